"""English stop words."""

_ENGLISH = """
a about above after again against all also am an and any anyone anything are arent as at be because been
before being below between both but by can cannot cant could couldnt did didnt do does doesnt doing dont
down during each either else ever every few for from further get gets got had hadnt has hasnt have havent
having he hed hell her here heres hers herself hes him himself his how hows i id if ill im in into is
isnt it itd itll its itself ive just lets like me might mine more most much must mustnt my myself neither
no nor not now of off on once one only or other ought our ours ourselves out over own please same shall
shant she shed shell shes should shouldnt so some someone something still such tell than that thats the
their theirs them themselves then there theres these they theyd theyll theyre theyve this those though
through to too under until up upon us very was wasnt we wed well were werent weve what whats when whens
where wheres whether which while who whom whos whose why whys will with within without wont would wouldnt
yes yet you youd youll your youre yours yourself yourselves youve
"""

# Their stems that are other words, written out: the stemmer is loaded with the first text that is indexed.
# Queries have stems: `does` became `doe`, was not dropped, and cost a point of recall.
_STEMS = """
abov ani anyon anyth becaus befor doe dure els everi let onc onli ourselv pleas someon someth themselv theyr
theyv veri whi yourselv youv
"""

SURFACE = frozenset(_ENGLISH.split())
STOP_WORDS = SURFACE | frozenset(_STEMS.split())

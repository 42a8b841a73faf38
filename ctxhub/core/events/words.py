"""Plain words for the verbs and nouns of the log, for people."""

ACTIONS = {
    "acked": "acknowledged",
    "cleaned": "cleaned up",
    "escalated": "left waiting",
    "force_released": "released by an administrator",
    "handed_over": "handed over to the window's new session",
    "sent_again": "sent again",
    "switched_off": "switched off after failures",
    "taken_over": "taken over from a silent session",
}
KINDS = {
    "change": "file change",
    "config": "settings",
    "resource": "file",
}


def action_word(verb: str) -> str:
    return ACTIONS.get(verb, verb)


def kind_word(noun: str) -> str:
    return KINDS.get(noun, noun)

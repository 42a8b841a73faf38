"""Plain words for the verbs and nouns of the log, for people."""

ACTIONS = {
    "acked": "acknowledged",
    "cleaned": "cleaned up",
    "force_released": "released by an administrator",
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

"""axe, which finds what keeps people from using a page by keys, by ear or with weak eyes."""

from importlib.resources import files

from playwright.sync_api import Page

AXE = files("axe_playwright_python").joinpath("axe.min.js").read_text()
CONTRAST = ("color-contrast", "link-in-text-block")
FIND = """async rules => (await axe.run(document, {
        resultTypes: ["violations"], ...(rules ? {runOnly: {type: "rule", values: rules}} : {})
    })).violations.map(rule => [rule.id, rule.nodes.slice(0, 3).map(node => node.html.slice(0, 160))])"""

# When the colours of the scheme have been set, and none is on its way to another one.
COLOURED = """() => new Promise(requestAnimationFrame).then(() => Promise.all(document.getAnimations()
    .filter(each => each.effect.getComputedTiming().endTime !== Infinity)
    .map(each => each.finished.catch(() => null)))).then(() => null)"""

Problems = dict[str, list[str]]
"""By rule of axe: the first places on the page."""


def find_problems(page: Page) -> Problems:
    """What is wrong in light, and what else is in dark, of which only colours differ. The page stays dark."""
    page.evaluate(AXE)
    page.emulate_media(color_scheme="light")
    page.evaluate(COLOURED)
    found: Problems = dict(page.evaluate(FIND))
    page.emulate_media(color_scheme="dark")
    page.evaluate(COLOURED)
    dark = {f"{rule} in dark": places for rule, places in page.evaluate(FIND, list(CONTRAST))}
    return {**found, **dark}

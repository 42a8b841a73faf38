// The outline marks the section whose heading was passed last, on a page and in the reading pane.
{
  const PASSED = 120; // Pixels from the top of the page, below its head, or of the pane.
  let headings = new Map();
  let pane = null;

  function read(root) {
    pane = root === document ? null : root;
    headings = new Map();
    for (const link of root.querySelectorAll(".ctx-outline a[href^='#']")) {
      const heading = root.querySelector(`[id="${CSS.escape(decodeURIComponent(link.hash.slice(1)))}"]`);
      if (heading) headings.set(heading, link);
    }
    mark();
  }

  function mark() {
    let [current] = headings.keys();
    const passed = PASSED + (pane?.getBoundingClientRect().top ?? 0);
    for (const heading of headings.keys()) {
      if (heading.getBoundingClientRect().top > passed) break;
      current = heading;
    }
    for (const [heading, link] of headings) {
      if (heading === current) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
  }

  let isWaiting = false;
  function markSoon() {
    if (isWaiting) return;
    isWaiting = true;
    requestAnimationFrame(() => {
      isWaiting = false;
      mark();
    });
  }

  // The page scrolls within an element of the theme; its events are heard on their way down.
  addEventListener("scroll", markSoon, { capture: true, passive: true });
  addEventListener("ctx-shown", ({ target }) => read(target));
  read(document.getElementById("ctx-pane") ?? document);
}

// The outline marks the section whose heading was passed last.
const entries = new Map();
for (const link of document.querySelectorAll(".ctx-outline a[href^='#']")) {
  const heading = document.getElementById(decodeURIComponent(link.hash.slice(1)));
  if (heading) entries.set(heading, link);
}
const headings = [...entries.keys()];
const PASSED = 120; // Pixels from the top, below the head of the page.

function markSection() {
  let current = headings[0];
  for (const heading of headings) {
    if (heading.getBoundingClientRect().top > PASSED) break;
    current = heading;
  }
  for (const [heading, link] of entries) {
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
    markSection();
  });
}

if (headings.length) {
  // The page scrolls within an element of the theme; its events are heard on their way down.
  addEventListener("scroll", markSoon, { capture: true, passive: true });
  markSection();
}

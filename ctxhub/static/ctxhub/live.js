// Renews the parts of a page marked with data-live: waits at the hub until they change, and puts in the new ones.
const url = document.currentScript.dataset.url;
const SECONDS_HELD = 25;
const PAUSE = 2_000;
const LONG_PAUSE = 15_000;

const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

async function whenVisible() {
  while (document.visibilityState !== "visible") {
    await new Promise((resolve) => document.addEventListener("visibilitychange", resolve, { once: true }));
  }
}

// What moves under a pointer is clicked by mistake: wait until it has left.
function whenLeft(part) {
  if (!matchMedia("(hover: hover)").matches || !part.matches(":hover")) return Promise.resolve();
  return new Promise((resolve) => part.addEventListener("pointerleave", resolve, { once: true }));
}

// The focus stays on the button that had it, wherever that is now.
function replacePart(part, fresh) {
  const focused = part.contains(document.activeElement) ? document.activeElement.id : "";
  part.replaceChildren(...fresh.childNodes);
  if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
}

async function renew(html) {
  const fresh = new DOMParser().parseFromString(html, "text/html");
  const renewed = [...document.querySelectorAll("[data-live]")].map(async (part) => {
    const other = fresh.getElementById(part.id);
    if (other.innerHTML.trim() === part.innerHTML.trim()) return;
    await whenLeft(part);
    replacePart(part, other);
  });
  await Promise.all(renewed);
}

// Returns how long to pause; 0 ends it, for a person who is signed out.
async function ask(known) {
  const target = new URL(url, location.href);
  if (known.etag) target.searchParams.set("wait", SECONDS_HELD);
  const response = await fetch(target, { headers: known.etag ? { "If-None-Match": known.etag } : {}, cache: "no-store" });
  if (response.redirected || response.status === 403) return 0;
  if (response.status === 304) return PAUSE;
  if (!response.ok) return LONG_PAUSE;
  await renew(await response.text());
  known.etag = response.headers.get("ETag");
  return PAUSE;
}

async function keepFresh() {
  const known = { etag: "" };
  for (let wait = PAUSE; wait; ) {
    await pause(wait);
    await whenVisible();
    wait = await ask(known).catch(() => LONG_PAUSE);
  }
}

keepFresh();

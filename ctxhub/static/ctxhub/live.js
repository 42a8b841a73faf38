// Renews the parts of a page marked with data-live, when the hub tells that something has happened.
// Browsers hold six connections to a host. So one tab, a visible one, holds the stream of the hub and tells the others;
// where no tab can, each waits at the hub by itself.
const { url, stream } = document.currentScript.dataset;
const SECONDS_HELD = 25;
const PAUSE = 2_000;
const LONG_PAUSE = 15_000;
// Without news a page looks so often: what it says of times has changed, and some projects are not followed.
const LOOKS = 30_000;
const SAYS = 8_000;
const SILENT = 20_000;
const REFUSED = 60_000;

const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
const isVisible = () => document.visibilityState === "visible";

// -- The stream. A tab that holds it says so from time to time; the one of two with the smaller name keeps it.
const me = `${Date.now()}.${Math.random()}`;
const tabs = "BroadcastChannel" in window && "EventSource" in window ? new BroadcastChannel("ctxhub-live") : null;
let source = null;
let hasHeld = false; // Browsers may close the source of a page that is left before they tell the page.
let heldByOther = 0;
let refusedUntil = 0;
let hasNews = false;
let wake = () => {};

const say = (what) => tabs.postMessage({ what, name: me });
const holds = () => source?.readyState === EventSource.OPEN;
const isTold = () => tabs && (holds() || Date.now() < heldByOther + SILENT);

function tellNews() {
  hasNews = true;
  wake();
}

function whenNews(milliseconds) {
  if (hasNews) return Promise.resolve();
  return Promise.race([pause(milliseconds), new Promise((resolve) => { wake = resolve; })]);
}

function tellAll() {
  tellNews();
  say("news");
}

function hold() {
  if (!tabs || source || isTold() || Date.now() < refusedUntil || !isVisible()) return;
  source = new EventSource(stream);
  source.onopen = () => {
    hasHeld = true;
    say("held");
    tellAll(); // What happened before is not told again.
  };
  source.onerror = () => {
    if (source?.readyState !== EventSource.CLOSED) return;
    leave();
    refusedUntil = Date.now() + REFUSED;
  };
  source.addEventListener("changed", tellAll);
  source.addEventListener("reset", tellAll);
}

function release() {
  source?.close();
  source = null;
  hasHeld = false;
}

function leave() {
  if (hasHeld) say("left");
  release();
}

function hear({ data: { what, name } }) {
  if (what === "news") tellNews();
  if (what === "who" && holds()) say("held");
  if (what === "left") {
    heldByOther = 0;
    hold();
  }
  if (what !== "held") return;
  if (source && me < name) {
    if (holds()) say("held");
    return;
  }
  release();
  heldByOther = Date.now();
}

if (tabs) {
  tabs.onmessage = hear;
  say("who");
  setInterval(() => holds() && say("held"), SAYS);
  document.addEventListener("visibilitychange", () => (isVisible() ? hold() : leave()));
  addEventListener("pagehide", leave);
}

// -- The parts of the page.

async function whenVisible() {
  while (!isVisible()) {
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

// What somebody types is not taken from under their hands.
const isTypedIn = (part) => [...part.querySelectorAll("textarea")].some((field) => field.value.trim());

// How much waits for the person stands in the title of the tab, too.
function tellCount() {
  const count = document.querySelector("[data-count]")?.dataset.count;
  const title = document.title.replace(/^\(\d+\) /, "");
  document.title = count ? `(${count}) ${title}` : title;
}

async function renew(html) {
  const fresh = new DOMParser().parseFromString(html, "text/html");
  const renewed = [...document.querySelectorAll("[data-live]")].map(async (part) => {
    const other = fresh.getElementById(part.id);
    if (other.innerHTML.trim() === part.innerHTML.trim() || isTypedIn(part)) return;
    await whenLeft(part);
    replacePart(part, other);
  });
  await Promise.all(renewed);
  tellCount();
}

// Returns how long to pause; 0 ends it, for a person who is signed out.
async function ask(known) {
  const target = new URL(url, location.href);
  if (known.etag && !isTold()) target.searchParams.set("wait", SECONDS_HELD);
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
    hold();
    const told = isTold();
    hasNews = false;
    wait = await ask(known).catch(() => LONG_PAUSE);
    if (told && wait === PAUSE) await whenNews(LOOKS);
  }
  release();
  tabs?.close();
}

keepFresh();

// The reading pane beside a list: a row opens in it where there is room, and as a page of its own elsewhere.
document.addEventListener("DOMContentLoaded", () => {
  const pane = document.getElementById("ctx-pane");
  const list = document.getElementById("result_list");
  if (!pane || !list) return;
  const isWide = matchMedia("(width >= 1280px)");
  const split = document.getElementById("changelist");
  const GAP = 12; // Pixels above and below it, as in rows.css.
  const LEAST = 240;
  let asked = 0;

  const link = (row) => row.querySelector("a.ctx-row-title, .ctx-row-title a");

  function mark(row) {
    list.querySelector(".ctx-row[aria-current]")?.removeAttribute("aria-current");
    row?.setAttribute("aria-current", "true");
    history.replaceState(history.state, "", row ? `#${row.id}` : location.pathname + location.search);
  }

  // The addresses of a page are relative to it, not to the list.
  function based(part, address) {
    for (const [name, attribute] of [["a", "href"], ["form", "action"], ["img", "src"]]) {
      for (const each of part.querySelectorAll(`${name}[${attribute}]`)) {
        const written = each.getAttribute(attribute);
        if (!written.startsWith("#")) each.setAttribute(attribute, new URL(written, address));
      }
    }
    for (const form of part.querySelectorAll("form:not([action])")) form.action = address;
  }

  // Scripts with data-pane do their work on the pane when they are loaded, and whenever "ctx-shown" tells of it.
  const loaded = new Set([...document.scripts].map((script) => script.src));
  function takeScripts(part, address) {
    const scripts = [...part.querySelectorAll("script")];
    for (const script of scripts) script.remove();
    const kept = scripts.filter((script) => "pane" in script.dataset);
    return kept.map((script) => new URL(script.getAttribute("src"), address).href);
  }
  function load(address) {
    if (loaded.has(address)) return;
    loaded.add(address);
    const script = document.createElement("script");
    script.src = address;
    document.head.append(script);
  }

  // It ends above the foot of the page, wherever it begins.
  function fit() {
    if (pane.hidden) return;
    const foot = document.querySelector("footer > *")?.offsetHeight ?? 0;
    const top = Math.max(GAP, split.getBoundingClientRect().top);
    pane.style.maxHeight = `${Math.max(LEAST, innerHeight - foot - top - GAP)}px`;
  }

  function head(address, title) {
    const bar = document.createElement("header");
    bar.className = "ctx-pane-head";
    const open = document.createElement("a");
    open.className = "ctx-small-button";
    open.href = address;
    open.textContent = "Open the page";
    const close = document.createElement("button");
    close.type = "button";
    close.className = "ctx-small-button";
    close.textContent = "Close";
    close.addEventListener("click", hide);
    bar.append(open, close);
    pane.setAttribute("aria-label", title);
    return bar;
  }

  function hide() {
    const row = list.querySelector(".ctx-row[aria-current]");
    asked += 1;
    pane.hidden = true;
    pane.replaceChildren();
    split.removeAttribute("data-open");
    mark(null);
    if (row) link(row)?.focus();
  }

  async function show(row, goesThere) {
    const address = link(row).href;
    const number = asked += 1;
    mark(row);
    pane.hidden = false;
    split.setAttribute("data-open", "");
    pane.setAttribute("aria-busy", "true");
    row.scrollIntoView({ block: "nearest" });
    const answer = await fetch(address).catch(() => null);
    const text = answer?.ok ? await answer.text() : null;
    if (number !== asked) return;
    // What has gone or has no page of its own is told where it can be.
    if (text === null || (answer.redirected && !answer.url.startsWith(address.split("?")[0]))) {
      location.href = address;
      return;
    }
    const page = new DOMParser().parseFromString(text, "text/html");
    const main = page.querySelector("main");
    const actions = page.querySelector("[data-actions]");
    for (const part of [main, actions]) if (part) based(part, answer.url);
    const scripts = takeScripts(main, answer.url);
    const bar = head(address, page.title.trim());
    bar.prepend(...(actions?.childNodes ?? []));
    pane.replaceChildren(bar, ...main.childNodes);
    pane.scrollTop = 0;
    pane.removeAttribute("aria-busy");
    fit();
    pane.dispatchEvent(new CustomEvent("ctx-shown", { bubbles: true }));
    for (const script of scripts) load(script);
    if (goesThere) pane.focus();
  }

  list.addEventListener("click", (event) => {
    if (!isWide.matches || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey || event.button) return;
    const row = event.target.closest(".ctx-row");
    const other = event.target.closest("a, button, input, label, summary, [x-sort\\:handle]");
    if (!row || !link(row) || (other && other !== link(row)) || String(getSelection())) return;
    event.preventDefault();
    show(row, event.detail === 0); // A key: the pane is read from its beginning.
  });
  // With the pane open, j and k read on.
  list.addEventListener("ctx-reached", ({ target }) => {
    if (!pane.hidden && isWide.matches && link(target)) show(target, false);
  });
  // A link within the page in the pane: the address keeps the row.
  pane.addEventListener("click", (event) => {
    const within = event.target.closest("a[href^='#']");
    if (!within) return;
    event.preventDefault();
    pane.querySelector(`[id="${CSS.escape(decodeURIComponent(within.hash.slice(1)))}"]`)?.scrollIntoView();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !pane.hidden && !document.querySelector("dialog[open], .ctx-menu[open]")) hide();
  });

  addEventListener("scroll", fit, { capture: true, passive: true });
  addEventListener("resize", fit);

  const named = location.hash.startsWith("#row-") && document.getElementById(location.hash.slice(1));
  if (named && isWide.matches && link(named)) show(named, false);
});

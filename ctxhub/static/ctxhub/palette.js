// Ctrl+K opens the palette over the page: it searches the hub as the person types, and finds pages by name.
document.addEventListener("DOMContentLoaded", () => {
  const palette = document.getElementById("ctx-palette");
  if (!palette) return;
  const box = palette.querySelector("input[type=search]");
  const list = palette.querySelector("ul");
  const project = palette.querySelector("[name=project]");
  let asked = { words: "", listed: Promise.resolve() };
  let wait;
  let moves = 0;

  document.addEventListener("keydown", (event) => {
    if (event.key !== "k" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    if (!palette.open) palette.showModal();
    box.select();
  });
  palette.addEventListener("click", (event) => { if (event.target === palette) palette.close(); });

  const options = () => [...list.querySelectorAll("[role=option]")];
  const chosen = () => list.querySelector("[aria-selected=true]");

  function choose(option) {
    chosen()?.removeAttribute("aria-selected");
    option?.setAttribute("aria-selected", "true");
    option?.scrollIntoView({ block: "nearest" });
    box.setAttribute("aria-activedescendant", option?.id ?? "");
  }

  function pages(words) {
    const links = [...document.querySelectorAll("#nav-sidebar a[href^='/admin/']")];
    return links.filter((link) => link.textContent.toLowerCase().includes(words)).slice(0, 5).map((link) => {
      const item = document.createElement("li");
      const copy = document.createElement("a");
      item.role = "presentation";
      copy.role = "option";
      copy.tabIndex = -1;
      copy.href = link.href;
      copy.innerHTML = '<span class="material-symbols-outlined" aria-hidden="true">arrow_forward</span><span class="ctx-palette-title"></span><span class="ctx-quiet">page</span>';
      copy.querySelector(".ctx-palette-title").textContent = link.querySelector("span:not(.material-symbols-outlined)")?.textContent.trim() ?? link.textContent.trim();
      item.append(copy);
      return item;
    });
  }

  async function listHits(words) {
    let found = "";
    if (words) {
      const query = new URLSearchParams({ q: words, ...(project && { project: project.value }) });
      const answer = await fetch(`${palette.dataset.url}?${query}`).catch(() => null);
      found = answer?.ok && !answer.redirected ? await answer.text() : "";
    }
    if (words !== asked.words) return;
    list.innerHTML = found;
    if (words) list.prepend(...pages(words.toLowerCase()));
    options().forEach((option, position) => { option.id = `ctx-palette-hit-${position}`; });
    choose(null);
  }

  // Resolves when the list shows what fits the words in the box.
  function find() {
    const words = box.value.trim();
    if (words === asked.words) return asked.listed;
    clearTimeout(wait);
    asked = { words };
    asked.listed = listHits(words);
    return asked.listed;
  }

  box.addEventListener("input", () => {
    choose(null);
    clearTimeout(wait);
    wait = setTimeout(find, 150);
  });
  // Keys come faster than hits: each waits for the list of what was typed before it.
  box.addEventListener("keydown", async (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      event.preventDefault();
      moves += 1;
      await find();
      moves -= 1;
      const all = options();
      const at = all.indexOf(chosen());
      choose(all[(at + step + all.length + (at < 0 && step < 0 ? 1 : 0)) % all.length]);
    } else if (event.key === "Enter" && (moves || chosen())) {
      event.preventDefault();
      await find();
      chosen()?.click();
    } else if (event.key === "Escape") { // By itself a search field would only be emptied.
      event.preventDefault();
      palette.close();
    }
  });
});

// An address that ends in #L12 leads to that line, on whichever page of the text it stands.
{
  function goToLine() {
    const text = document.querySelector(".ctx-raw");
    const line = Number(/^#L(\d{1,9})$/.exec(location.hash)?.[1]);
    if (!text || !line) return;
    const { first, last, total } = text.dataset;
    const isElsewhere = line < Number(first) || line > Number(last);
    if (line <= Number(total) && isElsewhere) {
      const query = new URLSearchParams(location.search);
      query.set("line", line);
      location.replace(`?${query}#L${line}`);
    }
  }

  addEventListener("hashchange", goToLine);
  goToLine();
}

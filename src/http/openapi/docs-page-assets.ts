// Style and script of the API documentation page; the script sends a request and shows the response.

export const DOCS_PAGE_STYLE = `
:root { color-scheme: light dark; --line: #8884; --soft: #8882; --link: #2563eb; }
@media (prefers-color-scheme: dark) { :root { --link: #7aa7ff; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 70rem; padding: 1rem; font: 16px/1.5 system-ui, sans-serif; display: grid; grid-template-columns: 11rem minmax(0, 1fr); gap: 0 2rem; }
header { grid-column: 1 / -1; }
h1 small { font-weight: normal; opacity: .6; font-size: .6em; }
a { color: var(--link); }
nav { position: sticky; top: 1rem; align-self: start; }
nav ul { list-style: none; padding: 0; margin: 1.5rem 0; }
details { border: 1px solid var(--line); border-radius: 6px; margin: .5rem 0; padding: 0 .75rem; }
details[open] { padding-bottom: .75rem; }
summary { cursor: pointer; padding: .5rem 0; }
summary span { opacity: .75; margin-left: .5rem; }
summary b { display: inline-block; min-width: 3.2rem; font-size: .8rem; color: #15803d; }
summary b.post { color: #b45309; }
summary b.put { color: #7c3aed; }
code, pre, textarea, output, input { font: 14px/1.45 ui-monospace, monospace; }
table { border-collapse: collapse; width: 100%; margin: .5rem 0; table-layout: fixed; }
th, td { text-align: left; vertical-align: top; padding: .3rem .5rem .3rem 0; border-top: 1px solid var(--line); font-weight: normal; overflow-wrap: anywhere; }
th { font-weight: 600; width: 16rem; }
.responses th { width: 12rem; }
th input { display: block; width: 100%; font-weight: normal; }
textarea { width: 100%; display: block; }
output { display: block; white-space: pre-wrap; overflow-wrap: anywhere; max-height: 30rem; overflow: auto; background: var(--soft); border-radius: 6px; margin-top: .5rem; padding: 0 .75rem; }
output:not(:empty) { padding: .5rem .75rem; }
@media (max-width: 45rem) { body { display: block; } nav { position: static; } nav li { display: inline-block; margin-right: 1rem; } }
`;

export const DOCS_PAGE_SCRIPT = `
document.addEventListener("submit", async (event) => {
  event.preventDefault();
  const form = event.target;
  const output = form.querySelector("output");
  const body = form.querySelector("textarea");
  const method = form.dataset.method;
  const query = new URLSearchParams();
  const headers = body ? { "content-type": "application/json" } : {};
  let path = form.dataset.path;
  for (const { name, value, dataset } of form.querySelectorAll("input")) {
    if (dataset.in === "path") path = path.replace("{" + name + "}", encodeURIComponent(value));
    else if (dataset.in === "header" && value !== "") headers[name] = value;
    else if (value !== "") query.append(name, value);
  }
  const url = "." + path + (query.size > 0 ? "?" + query : "");
  output.textContent = method + " " + url.slice(1) + " …";
  try {
    const response = await fetch(url, { method, headers, ...(body ? { body: body.value } : {}) });
    const block = response.headers.get("x-indexed-block");
    const status = response.status + " " + response.statusText + (block ? ", indexed block " + block : "");
    output.textContent = method + " " + url.slice(1) + "\\n" + status + "\\n\\n" + format(await response.text());
  } catch (error) {
    output.textContent = String(error);
  }
});

// Indents only if that loses nothing: a number with more digits than a float can hold stays as sent.
function format(text) {
  try {
    const value = JSON.parse(text);
    return JSON.stringify(value) === text ? JSON.stringify(value, null, 2) : text;
  } catch {
    return text;
  }
}

if (location.hash) document.getElementById(location.hash.slice(1))?.setAttribute("open", "");
`;

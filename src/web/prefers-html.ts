// Decides between a page and JSON by the Accept header: browsers prefer HTML, programs do not.

/** True only if `text/html` is listed and weighs more than JSON; when in doubt, the client is a program. */
export function prefersHtml(accept: string | undefined): boolean {
  const ranges = (accept ?? "").split(",").map(readRange);
  const weight = (...names: readonly string[]) => {
    for (const name of names) {
      const found = ranges.find(({ type }) => type === name);
      if (found) return found.weight;
    }
    return 0;
  };
  return weight("text/html") > weight("application/json", "application/*", "*/*");
}

function readRange(text: string): { readonly type: string; readonly weight: number } {
  const [type = "", ...parameters] = text.split(";").map((part) => part.trim().toLowerCase());
  const given = parameters.find((part) => part.startsWith("q="));
  const weight = given === undefined ? 1 : Number(given.slice(2));
  return { type, weight: weight >= 0 && weight <= 1 ? weight : 0 };
}

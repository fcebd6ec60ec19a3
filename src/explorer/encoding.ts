// Which compression a client takes, by its Accept-Encoding.

export type Encoding = "br" | "gzip" | "identity";

/** The first of ours that the client accepts; identity where it accepts none, or says nothing. */
export function chooseEncoding(
  header: string | string[] | undefined,
  offered: readonly Encoding[],
): Encoding {
  const accepted = new Map<string, boolean>();
  for (const part of [header ?? ""].flat().join(",").split(",")) {
    const [name = "", ...parameters] = part.split(";").map((each) => each.trim().toLowerCase());
    const isRejected = parameters.some((each) => /^q=0(?:\.0*)?$/.test(each));
    if (name !== "") accepted.set(name, !isRejected);
  }
  return offered.find((encoding) => accepted.get(encoding) ?? accepted.get("*") ?? false) ?? "identity";
}

// The documents that say what a new event takes, compared with the edits that `npm run new-event` makes.
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { insertInto } from "../../scripts/new-event/apply-edit.ts";
import { NEW_EVENT_EDITS } from "../../scripts/new-event/edits.ts";
import { PROTOCOL_DOCUMENT, renderProtocolDocument } from "../../scripts/protocol-docs/render.ts";

const read = (file: string) => readFileSync(file, "utf8");

describe("a new event with its table and endpoint", () => {
  it("takes about ten edits by hand, in files that exist and where they fit", () => {
    expect(NEW_EVENT_EDITS.length).toBeLessThanOrEqual(11);
    for (const edit of NEW_EVENT_EDITS) expect(insertInto(read(edit.file), edit)).not.toBe(read(edit.file));
  });

  it("touches what docs/architecture.md says, and nothing else", () => {
    const row = read("docs/architecture.md")
      .split("\n")
      .find((line) => line.startsWith("| an event with its table and endpoint"));
    const places = [...(row ?? "").matchAll(/`([^` ]+\/[^` ]*)`/g)].map(([, place = ""]) => place);
    const touched = (file: string) =>
      places.findLast((place) => (place.endsWith("/") ? file.startsWith(place) : file === place));
    expect(NEW_EVENT_EDITS.filter(({ file }) => touched(file) === undefined)).toEqual([]);
    const unused = places.filter((place) => !NEW_EVENT_EDITS.some(({ file }) => file.startsWith(place)));
    expect(unused).toEqual([]);
  });
});

describe("the generated parts of docs/protocol.md (npm run docs:protocol)", () => {
  it("the generated parts of docs/protocol.md are up to date", () => {
    expect(read(PROTOCOL_DOCUMENT)).toBe(renderProtocolDocument(read(PROTOCOL_DOCUMENT)));
  });
});

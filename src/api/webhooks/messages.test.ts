// The text of a webhook message: texts of others are visible in it, and the value stays the same.
import { describe, expect, it } from "vitest";
import type { EventRecord } from "../../protocol/event-page.ts";
import { createEventMessage } from "./messages.ts";

/** "pay me" in tag characters, a zero width and a control of direction. */
const HIDDEN = `${Array.from("pay me", (letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0))).join("")}\u200b\u202e`;

describe("the body of a webhook message", () => {
  it("escapes invisible characters before it is signed, without a change of the value", () => {
    const record = {
      ...{ id: "1", type: "AgentRegistered", block_number: "7", block_timestamp: "1700000000" },
      data: { metadata_uri: `ipfs://a${HIDDEN}`, name: "Ünïcödé 👍" },
    } as unknown as EventRecord;
    const { body } = createEventMessage({ id: "w", undos: [] }, record);
    expect(body).not.toMatch(/[\p{Default_Ignorable_Code_Point}\p{Bidi_Control}]/u);
    expect(body).toContain("Ünïcödé 👍");
    expect(JSON.parse(body)).toEqual({
      type: "event.AgentRegistered",
      timestamp: "2023-11-14T22:13:20.000Z",
      data: record,
    });
  });
});

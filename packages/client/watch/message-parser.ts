// Messages of Server-Sent Events from text as it comes, within a limit of size.
import { SextantError } from "../errors.ts";

export type ServerMessage = {
  /** "message" if the server gives no name. */
  readonly name: string;
  readonly data: string;
};

const LINE_BREAK = /\r\n|\n|\r/g;
const NAME = "message";

export class MessageParser {
  /** How long the server wants clients to wait before they connect again; null until it says so. */
  retryMs: number | null = null;
  readonly #lengthMax: number;
  /** The line that is not complete, in parts, since a server decides how many there are. */
  #parts: string[] = [];
  #name = "";
  #data: string[] = [];
  /** Characters of all these. */
  #length = 0;
  /** A line feed after it belongs to the same line break. */
  #endsWithReturn = false;

  constructor(lengthMax: number) {
    this.#lengthMax = lengthMax;
  }

  /** The messages that this text completes. */
  *read(text: string): Generator<ServerMessage> {
    if (text === "") return;
    let start = this.#endsWithReturn && text.startsWith("\n") ? 1 : 0;
    this.#endsWithReturn = text.endsWith("\r");
    const breaks = new RegExp(LINE_BREAK);
    breaks.lastIndex = start;
    for (let found = breaks.exec(text); found !== null; found = breaks.exec(text)) {
      this.#keep(text.slice(start, found.index));
      start = breaks.lastIndex;
      const message = this.#endLine();
      if (message !== null) yield message;
    }
    this.#keep(text.slice(start));
  }

  #keep(part: string): void {
    if (part === "") return;
    this.#parts.push(part);
    this.#count(part.length);
  }

  #count(length: number): void {
    this.#length += length;
    if (this.#length <= this.#lengthMax) return;
    throw new SextantError(
      "RESPONSE_INVALID",
      `A message of the stream has more than ${this.#lengthMax} characters.`,
    );
  }

  #endLine(): ServerMessage | null {
    const line = this.#parts.length === 1 ? (this.#parts[0] ?? "") : this.#parts.join("");
    this.#parts = [];
    if (line === "") return this.#endMessage();
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(line.startsWith(" ", colon + 1) ? colon + 2 : colon + 1);
    // Text that is not kept no longer counts; a kept line counts for one character more, even if it is empty.
    this.#length -= line.length;
    if (field === "data") {
      this.#data.push(value);
      this.#count(value.length + 1);
    } else if (field === "event") {
      this.#length -= this.#name.length;
      this.#name = value;
      this.#count(value.length);
    } else if (field === "retry" && /^\d{1,9}$/.test(value)) {
      this.retryMs = Number(value);
    }
    return null;
  }

  /** Null for a comment and for what has no data, as the standard says. */
  #endMessage(): ServerMessage | null {
    const message =
      this.#data.length === 0 ? null : { name: this.#name || NAME, data: this.#data.join("\n") };
    this.#name = "";
    this.#data = [];
    this.#length = 0;
    return message;
  }
}

// A client of events as documented: appends what comes, and after an undo forgets everything past its block.
import { expect } from "vitest";

type ReceivedEvent = {
  readonly id: string;
  readonly block_number: string;
  readonly log_index: number;
};

export class EventModel {
  readonly events: ReceivedEvent[] = [];
  undoCount = 0;
  /** The last block that is complete, as the last progress says. */
  complete = -1;

  undo({ block_number }: { readonly block_number: string }): void {
    this.undoCount += 1;
    const to = Number(block_number);
    while (Number(this.events.at(-1)?.block_number ?? -1) > to) this.events.pop();
    this.complete = Math.min(this.complete, to);
  }

  append(event: ReceivedEvent): void {
    const last = this.events.at(-1);
    // Nothing twice, nothing out of order, and nothing in a block that was complete.
    if (last) expect(positionOf(event)).toBeGreaterThan(positionOf(last));
    expect(Number(event.block_number)).toBeGreaterThan(this.complete);
    this.events.push(event);
  }

  progress({ block_number }: { readonly block_number: string }): void {
    expect(Number(block_number)).toBeGreaterThanOrEqual(this.complete);
    this.complete = Number(block_number);
  }

  get ids(): readonly string[] {
    return this.events.map(({ id }) => id);
  }
}

function positionOf({ block_number, log_index }: ReceivedEvent): number {
  return Number(block_number) * 100_000 + log_index;
}

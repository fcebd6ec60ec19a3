// The newest events, read once for all streams that have caught up: one statement per change, however many follow.
import { toFault } from "../../lib/fault.ts";
import { type EventFilter, type EventSubject, subjectsOf } from "../../protocol/event-filter.ts";
import type { TextStream } from "../../schema/endpoint.ts";
import {
  EVERY_EVENT,
  type EventCursor,
  type EventSelection,
  type EventsPage,
  isSamePosition,
  PageMessages,
} from "./event-page.ts";
import type { ReadEvents } from "./read-events.ts";

/** A stream at its position. */
export type Follower = {
  readonly stream: TextStream;
  readonly filter: EventFilter;
  position: EventCursor;
  /** Whether it is past everything that may be read; nothing says that the chain will ever come there. */
  readonly isAhead: boolean;
};

/** The additions to the events of a tail; its followers have filters of their own. */
export type TailSelection = Omit<EventSelection, "filter">;

type LiveTailOptions = {
  readonly readEvents: ReadEvents;
  readonly selection: TailSelection;
  /** A follower with more unread bytes than this is left behind: it reads from the database at its own pace. */
  readonly bufferBytesMax: number;
  readonly onDelivered: (page: EventsPage, events: number) => void;
  readonly onFailure: (error: unknown) => void;
};

type Joiner = { readonly follower: Follower; readonly leave: () => void };

// Small, so that a burst is spread over many writes, between which slow followers are noticed.
const EVENTS_PER_PAGE = 100;

export class LiveTail {
  readonly #options: LiveTailOptions;
  readonly #followers = new Map<Follower, () => void>();
  /** Followers that have caught up to another position than this tail; the next position may be the same. */
  readonly #joiners = new Set<Joiner>();
  #position: EventCursor | null = null;
  #state: "idle" | "reading" | "outdated" = "idle";
  #hasChanged = false;

  constructor(options: LiveTailOptions) {
    this.#options = options;
  }

  get followerCount(): number {
    return this.#followers.size;
  }

  /** Resolves when the follower has to read on by itself: it is slow, the tail is elsewhere, or the stream has ended. */
  follow(follower: Follower): Promise<void> {
    return new Promise((resolve) => {
      const { signal } = follower.stream;
      const leave = () => {
        signal.removeEventListener("abort", leave);
        this.#followers.delete(follower);
        this.#joiners.delete(joiner);
        resolve();
      };
      const joiner = { follower, leave };
      if (signal.aborted) return leave();
      signal.addEventListener("abort", leave, { once: true });
      // Without followers there is no position to keep. One that is ahead must not become it: all others would have to
      // read for themselves until the chain is there.
      if (this.#followers.size === 0 && !follower.isAhead) this.#position = follower.position;
      if (this.#isHere(follower)) this.#followers.set(follower, leave);
      else this.#joiners.add(joiner);
      // Something may have come since it caught up.
      this.#read();
    });
  }

  /** The index may have changed. */
  onChange(): void {
    if (this.#followers.size === 0 && this.#joiners.size === 0) return;
    this.#hasChanged = true;
    this.#read();
  }

  #isHere({ position }: Follower): boolean {
    return this.#position !== null && isSamePosition(position, this.#position);
  }

  #read(): void {
    if (this.#state !== "idle") {
      this.#state = "outdated";
      return;
    }
    this.#state = "reading";
    this.#readToEnd()
      .catch((error: unknown) => this.#onFailure(error))
      .finally(() => {
        const isOutdated = this.#state === "outdated";
        this.#state = "idle";
        this.#admitJoiners();
        if (isOutdated) this.#read();
        else this.#releaseJoiners();
      });
  }

  async #readToEnd(): Promise<void> {
    const { readEvents, selection } = this.#options;
    for (let hasMore = true; hasMore && this.#followers.size > 0 && this.#position !== null; ) {
      const from = this.#position;
      const linkedSubjects = this.#wantedSubjects();
      const request = { ...selection, filter: EVERY_EVENT, limit: EVENTS_PER_PAGE, client: null };
      const page = await readEvents({ ...request, from, linkedSubjects });
      // All followers left meanwhile, and another one came with a position of its own.
      if (this.#position !== from) continue;
      hasMore = page.hasMore;
      if (page.undo === null && !hasMore && isSamePosition(page.cursor, from)) return;
      this.#position = page.cursor;
      this.#deliver(page, linkedSubjects);
    }
  }

  #onFailure(error: unknown): void {
    if (toFault(error).status >= 500) this.#options.onFailure(error);
    // The position is of another deployment: each follower reads for itself, and gets the error.
    else for (const leave of this.#followers.values()) leave();
  }

  #wantedSubjects(): readonly EventSubject[] {
    return [...new Set([...this.#followers.keys()].flatMap(({ filter }) => subjectsOf(filter)))];
  }

  #deliver(page: EventsPage, linkedSubjects: readonly EventSubject[]): void {
    const messages = new PageMessages(page);
    let sent = 0;
    for (const [follower, leave] of this.#followers) {
      const isSlow = follower.stream.bufferedBytes > this.#options.bufferBytesMax;
      // It came while the page was read, which says too little about its events.
      const isUndecided = !subjectsOf(follower.filter).every((each) => linkedSubjects.includes(each));
      if (isSlow || isUndecided) {
        leave();
        continue;
      }
      const { text, count } = messages.select(follower.filter);
      const progress = page.hasMore ? "" : messages.progress;
      follower.position = page.cursor;
      if (text === "" && progress === "") continue;
      follower.stream.send(text + progress);
      sent += count;
    }
    this.#options.onDelivered(page, sent);
  }

  #admitJoiners(): void {
    for (const joiner of this.#joiners) {
      if (!this.#isHere(joiner.follower)) continue;
      this.#joiners.delete(joiner);
      this.#followers.set(joiner.follower, joiner.leave);
    }
  }

  /** After a change the others read on by themselves. Without a change they would read nothing new. */
  #releaseJoiners(): void {
    if (!this.#hasChanged) return;
    this.#hasChanged = false;
    for (const { leave } of this.#joiners) leave();
  }
}

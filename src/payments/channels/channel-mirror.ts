// The mirror of channels: keeps their rows at what our own node shows, by events and by reading the state itself.
import type { Hex } from "../../lib/hex.ts";
import type { Log } from "../../lib/log.ts";
import type { ChannelConfig } from "./channel-config.ts";
import type { ChangedChannels, ChannelReader } from "./channel-reader.ts";
import type { ChannelRow, ChannelState, ScanPosition } from "./channel-row.ts";
import type { MirrorRows } from "./mirror-rows.ts";

type MirrorOptions = {
  readonly reader: ChannelReader;
  readonly rows: MirrorRows;
  readonly blockAgeMsMax: number;
  readonly log: Log;
};

// Every run reads some channels without an event: a node that leaves events out is noticed within minutes, and a
// withdrawal takes a quarter of an hour at least.
const OLDEST_PER_RUN = 50;

export class ChannelMirror {
  readonly #options: MirrorOptions;
  #running: Promise<void> | null = null;
  #isBlind = false;

  constructor(options: MirrorOptions) {
    this.#options = options;
  }

  /** Whether the newest block that any process has seen was too old when this one last looked: no voucher is served then. */
  get isBlind(): boolean {
    return this.#isBlind;
  }

  /** Brings all rows up to the head of our node. Calls at the same time share one run. */
  follow(signal?: AbortSignal): Promise<void> {
    this.#running ??= this.#follow(signal).finally(() => {
      this.#running = null;
    });
    return this.#running;
  }

  async #follow(signal?: AbortSignal): Promise<void> {
    const { reader, rows, blockAgeMsMax } = this.#options;
    const since = await rows.readScan();
    this.#isBlind = since !== null && since.blockAgeMs > blockAgeMsMax;
    if (since === null) {
      const view = await reader.readNow(await rows.findAll(), signal);
      this.#report(await rows.move(null, view, { isReorg: true }));
      return;
    }
    const choose = (changed: ChangedChannels) => rows.findToRead(changed, since, OLDEST_PER_RUN);
    const view =
      (await reader.readChanges(since, choose, signal)) ?? (await this.#readIfRefuted(since, signal));
    if (view !== null) this.#report(await rows.move(since, view, view));
  }

  /** Reads every channel if the scan is at a block that never was; null if the node only lags. */
  async #readIfRefuted(since: ScanPosition, signal?: AbortSignal) {
    const { reader, rows } = this.#options;
    const { at } = await reader.readNow([], signal);
    if (at.number >= since.number || !(await rows.isRefutedBy(at))) return null;
    const view = await reader.readNow(await rows.findAll(), signal);
    return view.at.number < at.number ? null : { ...view, isReorg: true };
  }

  /** Each channel once: it is not served from then on. */
  #report(claimedElsewhere: readonly Hex[]): void {
    for (const channelId of claimedElsewhere) {
      this.#options.log.error(
        { component: "payments", event: "channel_claimed_elsewhere", channelId },
        "More was claimed of a channel than this database has charged",
      );
    }
  }

  /** Reads one channel now, and writes it if we know it. */
  async refresh(channelId: Hex, signal?: AbortSignal): Promise<ChannelState> {
    const { reader, rows } = this.#options;
    const view = await reader.readNow([channelId], signal);
    this.#report(await rows.write(view));
    return stateIn(view.states, channelId);
  }

  /** Adds a channel as our node shows it; `isWorth` decides by its state. Otherwise says why it is not added. */
  async add(
    channelId: Hex,
    config: ChannelConfig,
    isWorth: (state: ChannelState) => Promise<boolean>,
    signal?: AbortSignal,
  ): Promise<"added" | "worthless" | "payer" | "all"> {
    const { reader, rows, blockAgeMsMax } = this.#options;
    const view = await reader.readNow([channelId], signal);
    const ageMs = await rows.readBlockAgeMs(view.at);
    if (ageMs > blockAgeMsMax)
      throw new Error(`the newest block of the node is ${ageMs} ms from the time of the database`);
    const state = stateIn(view.states, channelId);
    if (!(await isWorth(state))) return "worthless";
    return rows.insert(channelId, config, state, view);
  }
}

function stateIn(states: ReadonlyMap<Hex, ChannelState>, channelId: Hex): ChannelState {
  const state = states.get(channelId);
  if (state === undefined) throw new Error("a channel that was read is missing");
  return state;
}

/** The sum that may be claimed of a channel in total without the risk that its payer takes it back first. */
export function coverageOf(
  row: Pick<ChannelRow, "balance" | "withdrawAmount" | "refundNonce" | "signedRefund"> & {
    readonly finalBalance: bigint;
    readonly blockNumber: number;
  },
  { finalNumber }: Pick<ScanPosition, "finalNumber">,
): { readonly now: bigint; readonly final: bigint } {
  const leaving = row.withdrawAmount + openRefundOf(row);
  const staying = (balance: bigint) => (balance > leaving ? balance - leaving : 0n);
  const final = row.blockNumber <= finalNumber ? row.balance : row.finalBalance;
  return { now: staying(row.balance), final: staying(final) };
}

/** The amount that a signed refund may still take out of the channel; the contract takes each nonce once, in order. */
export function openRefundOf({
  refundNonce,
  signedRefund,
}: Pick<ChannelRow, "refundNonce" | "signedRefund">): bigint {
  return signedRefund !== null && signedRefund.nonce >= refundNonce ? signedRefund.amount : 0n;
}

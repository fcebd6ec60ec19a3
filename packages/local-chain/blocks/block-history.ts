// The way back: a snapshot after each recent block, so that a reorg can return to any of them.
import type { EdrProvider } from "../edr-provider.ts";

export class BlockHistory {
  readonly #edr: EdrProvider;
  readonly #depthMax: number;
  // Height → EDR snapshot taken right after that block; insertion order is height order.
  readonly #snapshots = new Map<bigint, string>();
  #head = 0n;

  private constructor(edr: EdrProvider, depthMax: number) {
    this.#edr = edr;
    this.#depthMax = depthMax;
  }

  static async open(edr: EdrProvider, depthMax: number): Promise<BlockHistory> {
    const history = new BlockHistory(edr, depthMax);
    await history.snapshotHead();
    return history;
  }

  get head(): bigint {
    return this.#head;
  }

  get depthMax(): number {
    return this.#depthMax;
  }

  /** To be called after anything that may have mined. */
  async snapshotNewHead(): Promise<void> {
    const head = await this.#readHead();
    if (head !== this.#head) await this.#mark(head);
  }

  /** Takes the snapshot of the head anew: after a block, or after state was edited without one. */
  async snapshotHead(): Promise<void> {
    await this.#mark(await this.#readHead());
  }

  async #mark(head: bigint): Promise<void> {
    this.#head = head;
    if (this.#depthMax === 0) return;
    const snapshot: string = JSON.parse(await this.#edr.request("evm_snapshot", []));
    this.#snapshots.delete(this.#head);
    this.#snapshots.set(this.#head, snapshot);
    // EDR has no call to drop a snapshot: forgotten ones cost it about 1 KB each until the chain stops.
    for (const height of this.#snapshots.keys()) {
      if (height >= this.#head - BigInt(this.#depthMax)) break;
      this.#snapshots.delete(height);
    }
  }

  /** Whether `returnTo(height)` can succeed. */
  hasSnapshot(height: bigint): boolean {
    return this.#snapshots.has(height);
  }

  /** Makes `height` the head again. Its snapshot is used up: the caller marks the head once the state suits it. */
  async revertTo(height: bigint): Promise<void> {
    const snapshot = this.#snapshots.get(height);
    if (snapshot === undefined) throw new Error(`No snapshot of block ${height} is kept`);
    if ((await this.#edr.request("evm_revert", [snapshot])) !== "true") {
      throw new Error(`EDR refused to return to block ${height} (snapshot ${snapshot})`);
    }
    await this.discardFrom(snapshot);
  }

  /** EDR discards a snapshot it returned to, and all later ones; so do we. */
  async discardFrom(snapshot: string): Promise<void> {
    for (const [height, taken] of this.#snapshots) {
      if (BigInt(taken) >= BigInt(snapshot)) this.#snapshots.delete(height);
    }
    this.#head = await this.#readHead();
  }

  async #readHead(): Promise<bigint> {
    return BigInt(JSON.parse(await this.#edr.request("eth_blockNumber", [])));
  }
}

// Snapshots of the recent blocks, so that a reorg can return to any of them.
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

  /** Call after anything that may have mined. */
  async snapshotNewHead(): Promise<void> {
    const head = await this.#readHead();
    if (head !== this.#head) await this.#snapshot(head);
  }

  /** Replaces the snapshot of the head: after a block, or after an edit of the state without one. */
  async snapshotHead(): Promise<void> {
    await this.#snapshot(await this.#readHead());
  }

  async #snapshot(head: bigint): Promise<void> {
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

  /** Whether `revertTo(height)` can succeed. */
  hasSnapshot(height: bigint): boolean {
    return this.#snapshots.has(height);
  }

  /** Makes `height` the head again. This consumes its snapshot: the caller takes another once the state is complete. */
  async revertTo(height: bigint): Promise<void> {
    const snapshot = this.#snapshots.get(height);
    if (snapshot === undefined) throw new Error(`There is no snapshot of block ${height}`);
    if ((await this.#edr.request("evm_revert", [snapshot])) !== "true") {
      throw new Error(`EDR could not return to block ${height} (snapshot ${snapshot})`);
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

// The contracts of protocols whose messages wallets sign, by chain: a message for another contract is not theirs.

import { dataOrigin } from "../../../chain/chain-data.ts";
import { CHAINS } from "../../../chain/chains/chains.ts";
import { readDataFile } from "../../../chain/data-file.ts";
import type { Hex } from "../../../lib/hex.ts";
import { shape } from "../../../lib/json-shape.ts";
import { replaceLookalikes } from "../../tokens/lookalikes.ts";

const protocol = shape.oneOf(
  ...(["permit2", "seaport", "conduit-controller", "cow", "cow-relayer", "1inch", "uniswapx"] as const),
  ...(["entry-point", "safe-multisend"] as const),
  ...(["x402-channels", "x402-collector", "x402-exact", "x402-upto"] as const),
);

export type MessageProtocol = ReturnType<typeof protocol>;

const messageContract = shape.object({
  protocol,
  name: shape.text,
  address: shape.address,
  /** Name and version of the domain in which the contract's messages are signed. */
  domain: shape.optional(shape.text),
  version: shape.optional(shape.text),
  /** The chains on which it is that contract, by slug; all of them if absent. */
  chains: shape.optional(shape.list(shape.text)),
  source: shape.text,
});

const FILE = "message-contracts.json";
const { messageContracts } = shape.object({
  messageContracts: shape.object({
    ...dataOrigin,
    data: shape.list(messageContract, ({ address }) => address),
  }),
})(readDataFile(FILE), `chain-data/${FILE}: `);

export type MessageContract = ReturnType<typeof messageContract>;

/** The contracts of one chain. */
export class MessageContracts {
  readonly #contracts: readonly MessageContract[];

  constructor(contracts: readonly MessageContract[]) {
    this.#contracts = contracts;
  }

  find(address: Hex | null): MessageContract | null {
    return this.#contracts.find((contract) => contract.address === address) ?? null;
  }

  isOf(wanted: MessageProtocol, address: Hex | null): boolean {
    return this.find(address)?.protocol === wanted;
  }

  /** The first contract of a protocol; null if the chain has none. */
  addressOf(wanted: MessageProtocol): Hex | null {
    return this.#contracts.find((contract) => contract.protocol === wanted)?.address ?? null;
  }

  /** The protocol whose domain reads like this name. */
  findByDomain(name: string): MessageContract | null {
    const read = readAsEyes(name);
    return this.#contracts.find(({ domain }) => domain !== undefined && readAsEyes(domain) === read) ?? null;
  }
}

/** A name without what the eye does not see: alphabets, case, blanks and signs. */
export function readAsEyes(name: string): string {
  return replaceLookalikes(name.normalize("NFKD")).replaceAll(/[^a-z0-9]/gu, "");
}

const byChain = new Map<number, MessageContracts>(
  CHAINS.map(({ chainId, slug }) => [
    chainId,
    new MessageContracts(
      messageContracts.data.filter(({ chains }) => chains === undefined || chains.includes(slug)),
    ),
  ]),
);

export function contractsOnChain(chainId: number): MessageContracts {
  return byChain.get(chainId) ?? new MessageContracts([]);
}

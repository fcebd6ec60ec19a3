// Addresses as the topics of a log.
import type { Hex } from "../hex.ts";

const ADDRESS_PADDING = "0".repeat(24);

export function addressToTopic(address: Hex): Hex {
  return `0x${ADDRESS_PADDING}${address.slice(2).toLowerCase()}`;
}

/** Null for a topic that is no address. */
export function topicToAddress(topic: Hex | undefined): Hex | null {
  return topic?.startsWith(`0x${ADDRESS_PADDING}`) ? `0x${topic.slice(26)}` : null;
}

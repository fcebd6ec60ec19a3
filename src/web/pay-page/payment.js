// A payment as x402 version 2 wants it: terms read from a header, what is signed, and the header that carries it.

/**
 * @typedef {{scheme: string, network: string, amount: string, asset: string, payTo: string,
 *   maxTimeoutSeconds: number, extra: {name: string, version: string}}} Terms
 * @typedef {Record<string, {info?: object}>} Extensions
 * @typedef {{x402Version: number, resource: unknown, accepts: Terms[], extensions?: Extensions, error?: string}} Challenge
 * @typedef {{from: string, to: string, value: string, validAfter: string, validBefore: string,
 *   nonce: string}} Authorization
 */

// Clocks differ: a signature that is valid only from now on may be too early for the chain.
const EARLY_SECONDS = 600;

/** @param {string} text @returns {unknown} */
export function readHeader(text) {
  const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  return JSON.parse(new TextDecoder().decode(bytes));
}

/** @param {unknown} value @returns {string} */
function writeHeader(value) {
  const bytes = new TextEncoder().encode(JSON.stringify(value));
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
}

/** The id of an EVM chain named as CAIP-2 does. @param {string} network @returns {number} */
export function chainIdOf(network) {
  return Number(network.slice(network.indexOf(":") + 1));
}

/** @param {number} bytes @returns {string} */
function randomHex(bytes) {
  const chosen = crypto.getRandomValues(new Uint8Array(bytes));
  return Array.from(chosen, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/**
 * @param {Terms} terms
 * @param {string} from
 * @param {number} nowMs
 * @returns {Authorization}
 */
export function newAuthorization(terms, from, nowMs) {
  const now = Math.floor(nowMs / 1000);
  return {
    from,
    to: terms.payTo,
    value: terms.amount,
    validAfter: String(now - EARLY_SECONDS),
    validBefore: String(now + terms.maxTimeoutSeconds),
    nonce: `0x${randomHex(32)}`,
  };
}

/** EIP-3009 as EIP-712 typed data. @param {Terms} terms @param {Authorization} message */
export function typedData(terms, message) {
  const fields = (/** @type {string} */ text) =>
    text.split(", ").map((field) => {
      const [type, name] = field.split(" ");
      return { name, type };
    });
  return {
    types: {
      EIP712Domain: fields("string name, string version, uint256 chainId, address verifyingContract"),
      TransferWithAuthorization: fields(
        "address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce",
      ),
    },
    domain: {
      name: terms.extra.name,
      version: terms.extra.version,
      chainId: chainIdOf(terms.network),
      verifyingContract: terms.asset,
    },
    primaryType: "TransferWithAuthorization",
    message,
  };
}

/**
 * @param {Challenge} challenge
 * @param {Terms} terms
 * @param {Authorization} authorization
 * @param {string} signature
 * @returns {string}
 */
export function paymentHeader(challenge, terms, authorization, signature) {
  const { x402Version, resource } = challenge;
  const extensions = withIdentifier(challenge.extensions ?? {});
  return writeHeader({
    x402Version,
    payload: { authorization, signature },
    resource,
    accepted: terms,
    extensions,
  });
}

const IDENTIFIER = "payment-identifier";

/**
 * A name that is nowhere on the chain, where the service knows names: without it, whoever reads the signature there
 * can not fetch what it bought.
 * @param {Extensions} extensions
 * @returns {Extensions}
 */
function withIdentifier(extensions) {
  const known = extensions[IDENTIFIER];
  if (known === undefined) return extensions;
  const id = `pay_${randomHex(16)}`;
  return { ...extensions, [IDENTIFIER]: { ...known, info: { ...known.info, id } } };
}

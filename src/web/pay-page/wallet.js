// The visitor's own wallet, spoken to by EIP-1193: an account, the right chain, one signature.
import { chainIdOf } from "./payment.js";

/** @typedef {{request(call: {method: string, params?: unknown[]}): Promise<unknown>}} Wallet */

// How long wallets may take to introduce themselves (EIP-6963); they answer at once.
const INTRODUCTION_MS = 50;
const REJECTED = 4001;
const UNKNOWN_CHAIN = 4902;

/** @returns {Promise<Wallet | null>} */
export async function findWallet() {
  const { ethereum } = /** @type {Window & {ethereum?: Wallet}} */ (window);
  if (ethereum) return ethereum;
  /** @type {Wallet[]} */
  const found = [];
  const listen = (/** @type {Event} */ event) =>
    found.push(/** @type {CustomEvent<{provider: Wallet}>} */ (event).detail.provider);
  window.addEventListener("eip6963:announceProvider", listen);
  window.dispatchEvent(new Event("eip6963:requestProvider"));
  await new Promise((resolve) => setTimeout(resolve, INTRODUCTION_MS));
  window.removeEventListener("eip6963:announceProvider", listen);
  return found[0] ?? null;
}

/** @param {Wallet} wallet @returns {Promise<string>} */
export async function connect(wallet) {
  const accounts = await asked(wallet, "eth_requestAccounts", []);
  const account = Array.isArray(accounts) ? accounts[0] : null;
  if (typeof account !== "string") throw new Error("Your wallet showed no account to pay with.");
  return account;
}

/** @param {Wallet} wallet @param {string} network @param {string} name */
export async function useChain(wallet, network, name) {
  const chainId = `0x${chainIdOf(network).toString(16)}`;
  if (Number(await asked(wallet, "eth_chainId", [])) === chainIdOf(network)) return;
  try {
    await asked(wallet, "wallet_switchEthereumChain", [{ chainId }]);
  } catch (error) {
    if (/** @type {{code?: unknown}} */ (error).code !== UNKNOWN_CHAIN) throw error;
    throw new Error(
      `Your wallet does not know ${name} (chain id ${chainIdOf(network)}); add it there, then pay.`,
    );
  }
}

/** @param {Wallet} wallet @param {string} account @param {unknown} data @returns {Promise<string>} */
export async function sign(wallet, account, data) {
  const signature = await asked(wallet, "eth_signTypedData_v4", [account, JSON.stringify(data)]);
  if (typeof signature !== "string") throw new Error("Your wallet gave no signature. Nothing was paid.");
  return signature;
}

/** @param {Wallet} wallet @param {string} method @param {unknown[]} params @returns {Promise<unknown>} */
async function asked(wallet, method, params) {
  try {
    return await wallet.request({ method, params });
  } catch (cause) {
    const { code, message } = /** @type {{code?: unknown, message?: unknown}} */ (cause ?? {});
    const text =
      code === REJECTED ? "You declined in your wallet. Nothing was paid." : `Your wallet says: ${message}`;
    throw Object.assign(new Error(text, { cause }), { code });
  }
}

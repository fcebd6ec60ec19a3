// The visitor's wallet (EIP-1193): account, chain and signature.
import { parseChainId } from "./payment.js";

/** @typedef {{request(call: {method: string, params?: unknown[]}): Promise<unknown>}} Wallet */

// How long wallets may take to announce themselves (EIP-6963); they do so at once.
const ANNOUNCEMENT_MS = 50;
const USER_REJECTED = 4001;
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
  await new Promise((resolve) => setTimeout(resolve, ANNOUNCEMENT_MS));
  window.removeEventListener("eip6963:announceProvider", listen);
  return found[0] ?? null;
}

/** @param {Wallet} wallet @returns {Promise<string>} */
export async function requestAccount(wallet) {
  const accounts = await requestWallet(wallet, "eth_requestAccounts", []);
  const account = Array.isArray(accounts) ? accounts[0] : null;
  if (typeof account !== "string") throw new Error("Your wallet provided no account to pay with.");
  return account;
}

/** @param {Wallet} wallet @param {string} network @param {string} name */
export async function switchChain(wallet, network, name) {
  const chainId = `0x${parseChainId(network).toString(16)}`;
  if (Number(await requestWallet(wallet, "eth_chainId", [])) === parseChainId(network)) return;
  try {
    await requestWallet(wallet, "wallet_switchEthereumChain", [{ chainId }]);
  } catch (error) {
    if (/** @type {{code?: unknown}} */ (error).code !== UNKNOWN_CHAIN) throw error;
    throw new Error(
      `Your wallet does not know ${name} (chain id ${parseChainId(network)}); add it there, then pay.`,
    );
  }
}

/** @param {Wallet} wallet @param {string} account @param {unknown} data @returns {Promise<string>} */
export async function signTypedData(wallet, account, data) {
  const signature = await requestWallet(wallet, "eth_signTypedData_v4", [account, JSON.stringify(data)]);
  if (typeof signature !== "string") throw new Error("Your wallet returned no signature. Nothing was paid.");
  return signature;
}

/** @param {Wallet} wallet @param {string} method @param {unknown[]} params @returns {Promise<unknown>} */
async function requestWallet(wallet, method, params) {
  try {
    return await wallet.request({ method, params });
  } catch (cause) {
    const { code, message } = /** @type {{code?: unknown, message?: unknown}} */ (cause ?? {});
    const text =
      code === USER_REJECTED ? "You declined in your wallet. Nothing was paid." : `Wallet error: ${message}`;
    throw Object.assign(new Error(text, { cause }), { code });
  }
}

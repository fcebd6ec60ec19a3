// The visitor's wallet (EIP-1193): account, chain, signature and transaction.
import { parseChainId } from "./payment.js";

/**
 * @typedef {{request(call: {method: string, params?: unknown[]}): Promise<unknown>}} Wallet
 * @typedef {{symbol: string, name: string, decimals: number}} Currency
 * @typedef {{name: string, wallet: {nativeCurrency: Currency, rpcUrl: string} | null}} WalletChain
 */

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

/** The accounts that the visitor shares, the selected one first. @param {Wallet} wallet @returns {Promise<string[]>} */
export async function requestAccounts(wallet) {
  const accounts = await requestWallet(wallet, "eth_requestAccounts", []);
  return Array.isArray(accounts) ? accounts.filter((account) => typeof account === "string") : [];
}

/** @param {Wallet} wallet @returns {Promise<string>} */
export async function requestAccount(wallet) {
  const [account] = await requestAccounts(wallet);
  if (account === undefined) throw new Error("Your wallet provided no account to pay with.");
  return account;
}

/** @param {Wallet} wallet @param {string} network @param {WalletChain} chain */
export async function switchChain(wallet, network, chain) {
  const chainId = `0x${parseChainId(network).toString(16)}`;
  const isSelected = async () =>
    Number(await requestWallet(wallet, "eth_chainId", [])) === parseChainId(network);
  if (await isSelected()) return;
  try {
    await requestWallet(wallet, "wallet_switchEthereumChain", [{ chainId }]);
  } catch (error) {
    if (!isUnknownChain(error)) throw error;
    await addChain(wallet, chainId, chain);
    // Most wallets offer to switch as part of adding, but need not.
    if (!(await isSelected())) await requestWallet(wallet, "wallet_switchEthereumChain", [{ chainId }]);
  }
}

/** Adds a chain (EIP-3085). @param {Wallet} wallet @param {string} chainId @param {WalletChain} chain */
async function addChain(wallet, chainId, { name, wallet: known }) {
  if (known === null) {
    throw new Error(
      `Your wallet does not know ${name} (chain id ${Number(chainId)}); add it there, then try again.`,
    );
  }
  const { nativeCurrency, rpcUrl } = known;
  const chain = { chainId, chainName: name, nativeCurrency, rpcUrls: [rpcUrl] };
  await requestWallet(wallet, "wallet_addEthereumChain", [chain]);
}

/** MetaMask on phones wraps the code into an internal error. @param {unknown} error */
function isUnknownChain(error) {
  const { code, cause } = /** @type {{code?: unknown, cause?: unknown}} */ (error);
  const { data } = /** @type {{data?: {originalError?: {code?: unknown}}}} */ (cause ?? {});
  return code === UNKNOWN_CHAIN || data?.originalError?.code === UNKNOWN_CHAIN;
}

/** @param {Wallet} wallet @param {string} account @param {unknown} data @returns {Promise<string>} */
export async function signTypedData(wallet, account, data) {
  const signature = await requestWallet(wallet, "eth_signTypedData_v4", [account, JSON.stringify(data)]);
  if (typeof signature !== "string")
    throw new Error("Your wallet returned no signature. Try again, or use another wallet.");
  return signature;
}

/**
 * @param {Wallet} wallet
 * @param {{from: string, to: string, data: string, value: string}} transaction
 * @returns {Promise<string>} Its hash.
 */
export async function sendTransaction(wallet, transaction) {
  const hash = await requestWallet(wallet, "eth_sendTransaction", [transaction]);
  if (typeof hash !== "string") throw new Error("Your wallet returned no transaction. Look for it there.");
  return hash;
}

/** @param {Wallet} wallet @param {string} method @param {unknown[]} params @returns {Promise<unknown>} */
async function requestWallet(wallet, method, params) {
  try {
    return await wallet.request({ method, params });
  } catch (cause) {
    const { code, message } = /** @type {{code?: unknown, message?: unknown}} */ (cause ?? {});
    const text = code === USER_REJECTED ? "You declined in your wallet." : `Wallet error: ${message}`;
    throw Object.assign(new Error(text, { cause }), { code });
  }
}

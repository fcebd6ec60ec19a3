// The visitor's wallet (EIP-1193): account, chain, signature and transaction.
import { chainIdOfNetwork } from "../../../lib/caip2.ts";

export type Wallet = { request(call: { method: string; params?: unknown[] }): Promise<unknown> };
type Currency = { symbol: string; name: string; decimals: number };
export type WalletChain = { name: string; wallet: { nativeCurrency: Currency; rpcUrl: string } | null };

// How long wallets may take to announce themselves (EIP-6963); they do so at once.
const ANNOUNCEMENT_MS = 50;
const USER_REJECTED = 4001;
const UNKNOWN_CHAIN = 4902;

export async function findWallet(): Promise<Wallet | null> {
  const { ethereum } = window as Window & { ethereum?: Wallet };
  if (ethereum) return ethereum;
  const found: Wallet[] = [];
  const listen = (event: Event) => found.push((event as CustomEvent<{ provider: Wallet }>).detail.provider);
  window.addEventListener("eip6963:announceProvider", listen);
  window.dispatchEvent(new Event("eip6963:requestProvider"));
  await new Promise((resolve) => setTimeout(resolve, ANNOUNCEMENT_MS));
  window.removeEventListener("eip6963:announceProvider", listen);
  return found[0] ?? null;
}

/** The accounts that the visitor shares, the selected one first. */
export async function requestAccounts(wallet: Wallet): Promise<string[]> {
  const accounts = await requestWallet(wallet, "eth_requestAccounts", []);
  return Array.isArray(accounts) ? accounts.filter((account) => typeof account === "string") : [];
}

export async function requestAccount(wallet: Wallet): Promise<string> {
  const [account] = await requestAccounts(wallet);
  if (account === undefined) throw new Error("Your wallet provided no account to pay with.");
  return account;
}

export async function switchChain(wallet: Wallet, network: string, chain: WalletChain) {
  const chainId = `0x${chainIdOfNetwork(network).toString(16)}`;
  const isSelected = async () =>
    Number(await requestWallet(wallet, "eth_chainId", [])) === chainIdOfNetwork(network);
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

/** Adds a chain (EIP-3085). */
async function addChain(wallet: Wallet, chainId: string, { name, wallet: known }: WalletChain) {
  if (known === null) {
    throw new Error(
      `Your wallet does not know ${name} (chain id ${Number(chainId)}); add it there, then try again.`,
    );
  }
  const { nativeCurrency, rpcUrl } = known;
  const chain = { chainId, chainName: name, nativeCurrency, rpcUrls: [rpcUrl] };
  await requestWallet(wallet, "wallet_addEthereumChain", [chain]);
}

/** MetaMask on phones wraps the code into an internal error. */
function isUnknownChain(error: unknown) {
  const { code, cause } = error as { code?: unknown; cause?: unknown };
  const { data } = (cause ?? {}) as { data?: { originalError?: { code?: unknown } } };
  return code === UNKNOWN_CHAIN || data?.originalError?.code === UNKNOWN_CHAIN;
}

export async function signTypedData(wallet: Wallet, account: string, data: unknown): Promise<string> {
  const signature = await requestWallet(wallet, "eth_signTypedData_v4", [account, JSON.stringify(data)]);
  if (typeof signature !== "string")
    throw new Error("Your wallet returned no signature. Try again, or use another wallet.");
  return signature;
}

/** Returns the hash of the transaction. */
export async function sendTransaction(
  wallet: Wallet,
  transaction: { from: string; to: string; data: string; value: string },
): Promise<string> {
  const hash = await requestWallet(wallet, "eth_sendTransaction", [transaction]);
  if (typeof hash !== "string") throw new Error("Your wallet returned no transaction. Look for it there.");
  return hash;
}

async function requestWallet(wallet: Wallet, method: string, params: unknown[]): Promise<unknown> {
  try {
    return await wallet.request({ method, params });
  } catch (cause) {
    const { code, message } = (cause ?? {}) as { code?: unknown; message?: unknown };
    const text = code === USER_REJECTED ? "You declined in your wallet." : `Wallet error: ${message}`;
    throw Object.assign(new Error(text, { cause }), { code });
  }
}

// Closes what was opened, in reverse order.

export type CloseStack = {
  push(...closers: readonly (() => Promise<void> | void)[]): void;
  closeAll(): Promise<void>;
};

export function createCloseStack(): CloseStack {
  const closers: (() => Promise<void> | void)[] = [];
  return {
    push: (...more) => void closers.push(...more),
    async closeAll() {
      for (const close of closers.splice(0).reverse()) await close();
    },
  };
}

// Merchant, service and facilitator actions, and the trust signals that others report about them.
import { registerFacilitator, updateFacilitator } from "../transactions/facilitators.ts";
import {
  registerMerchant,
  registerService,
  updateMerchant,
  updateService,
} from "../transactions/merchants.ts";
import { recordTrustSignal, SIGNAL_KINDS, SIGNAL_SUBJECTS } from "../transactions/trust-signals.ts";
import type { SimulatorAction, Turn } from "../turn.ts";

/** Anyone may report anything: a signal about the first of its kind needs only the number. */
const FIRST_ID = 1n;

export const catalogActions: readonly SimulatorAction[] = [
  {
    name: "register a merchant",
    weight: 2,
    prepare: (turn) => {
      const { world, random, accounts, state } = turn;
      const owner = random.pick(accounts.merchants);
      const profile = newMerchant(turn);
      return async () =>
        state.merchants.add({ id: await registerMerchant(world, owner, profile), owner, profile });
    },
  },
  {
    name: "update a merchant",
    weight: 2,
    prepare: (turn) => {
      const { world, random, state } = turn;
      const merchant = turn.take(state.merchants);
      if (merchant === undefined) return undefined;
      if (random.chance(75)) merchant.profile = newMerchant(turn);
      const active = random.chance(85);
      return () => updateMerchant(world, merchant.owner, merchant.id, merchant.profile, active);
    },
  },
  {
    name: "register a service",
    weight: 3,
    prepare: (turn) => {
      const { world, random, state } = turn;
      const merchant = turn.take(state.merchants);
      if (merchant === undefined) return undefined;
      const profile = newService(turn);
      const serviceId = `${random.pick(["search", "translate", "render", "weather"])}-${random.word().toString(36)}`;
      return async () => {
        const id = await registerService(world, merchant.owner, merchant.id, serviceId, profile);
        state.services.add({ id, merchant, profile });
      };
    },
  },
  {
    name: "update a service",
    weight: 2,
    prepare: (turn) => {
      const { world, random, state } = turn;
      const service = turn.take(state.services);
      if (service === undefined) return undefined;
      if (random.chance(75)) service.profile = newService(turn);
      const active = random.chance(85);
      return () => updateService(world, service.merchant.owner, service.id, service.profile, active);
    },
  },
  {
    name: "register a facilitator",
    weight: 3,
    prepare: (turn) => {
      const { world, random, accounts, state } = turn;
      const facilitator = turn.take(state.facilitators, ({ entry }) => entry === undefined);
      if (facilitator === undefined) return undefined;
      const profile = newFacilitator(turn);
      const sender = random.chance(50) ? facilitator.wallet : random.pick(accounts.relayers);
      return async () => {
        const id = await registerFacilitator(world, sender, facilitator.wallet.address, profile);
        facilitator.entry = { id, active: true, profile };
      };
    },
  },
  {
    name: "register a facilitator again",
    weight: 1,
    prepare: (turn) => {
      const { world, state } = turn;
      const { wallet, entry } = turn.take(state.facilitators, (known) => known.entry !== undefined) ?? {};
      if (wallet === undefined || entry === undefined) return undefined;
      entry.profile = newFacilitator(turn);
      entry.active = true;
      return () => registerFacilitator(world, wallet, wallet.address, entry.profile);
    },
  },
  {
    name: "update a facilitator",
    weight: 2,
    prepare: (turn) => {
      const { world, random, state } = turn;
      const { wallet, entry } = turn.take(state.facilitators, (known) => known.entry !== undefined) ?? {};
      if (wallet === undefined || entry === undefined) return undefined;
      if (random.chance(75)) entry.profile = newFacilitator(turn);
      entry.active = random.chance(75);
      return () => updateFacilitator(world, wallet, entry.id, entry.profile, entry.active);
    },
  },
  {
    name: "report a trust signal",
    weight: 5,
    prepare: (turn) => {
      const { world, random, accounts } = turn;
      const reporter = random.pick([...accounts.attesters, ...accounts.owners]);
      const type = random.pick(SIGNAL_SUBJECTS);
      const subject = {
        type,
        id: random.chance(80) ? someId(turn, type) : random.between(1n, 2n ** 256n - 1n),
      };
      const kind = random.pick(SIGNAL_KINDS);
      const signalHash = random.bytes32();
      return () => recordTrustSignal(world, reporter, subject, kind, signalHash);
    },
  },
  {
    name: "report every kind of trust signal in one block",
    weight: 1,
    prepare: (turn) => {
      const { world, random, accounts } = turn;
      const reporter = random.pick(accounts.attesters);
      const type = random.pick(SIGNAL_SUBJECTS);
      const subject = { type, id: someId(turn, type) };
      const signals = SIGNAL_KINDS.map((kind) => ({ kind, hash: random.bytes32() }));
      return () =>
        world.inOneBlock(
          signals.map(
            ({ kind, hash }) =>
              () =>
                recordTrustSignal(world, reporter, subject, kind, hash),
          ),
        );
    },
  },
];

function someId({ random, state }: Turn, type: (typeof SIGNAL_SUBJECTS)[number]): bigint {
  const ids = {
    merchant: [...state.merchants].map(({ id }) => id),
    service: [...state.services].map(({ id }) => id),
    facilitator: state.facilitators.flatMap(({ entry }) => (entry === undefined ? [] : [entry.id])),
    agent: [...state.agents].map(({ id }) => id),
  }[type];
  return ids.length === 0 ? FIRST_ID : random.pick(ids);
}

function newMerchant(turn: Turn) {
  const { random, accounts } = turn;
  return {
    payoutAddress: random.chance(70) ? random.pick(accounts.merchants).address : random.address(),
    metadataURI: turn.uri("merchant"),
    metadataHash: random.bytes32(),
  };
}

function newService(turn: Turn) {
  const { random } = turn;
  return {
    metadataURI: turn.uri("service"),
    metadataHash: random.bytes32(),
    capabilityHash: random.bytes32(),
  };
}

function newFacilitator(turn: Turn) {
  return { metadataURI: turn.uri("facilitator"), metadataHash: turn.random.bytes32() };
}

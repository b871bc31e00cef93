import { type ApiObject, compareQuantities, type StatusError, statusError } from '../meta/index.ts';
import { type Amounts, addTo, lessAtLeastZero, readAmounts, tellAmounts, writeAmounts } from './amounts.ts';
import { fieldsOf } from './fields.ts';
import type { PluginInitializer } from './types.ts';

/** What is to be added to the quotas of a namespace, all of it or nothing. */
interface Charge {
  /** How much of a quota, of what it limits; undefined when the quota does not count it. Throws a refusal. */
  readonly share: (quota: ApiObject) => Amounts | undefined;
  readonly refuse: (why: string) => StatusError;
  /** Only whether it would do. */
  readonly rehearse: boolean;
}

/** What was added to one quota, and in which era of it. */
interface Entry {
  readonly uid: string;
  readonly era: number;
  readonly amounts: Amounts;
}

export interface Ledger {
  /**
   * Adds to the quotas before anything is stored that takes up of them, so that what is stored never exceeds them,
   * however many try at a time and on however many servers. @throws StatusError 403 when a quota is exceeded, 409
   * when others change the quotas all the time
   */
  charge(namespace: string, charge: Charge): Promise<readonly Entry[]>;
  /**
   * Takes entries back for what was not stored after all. An entry stays when anyone else has written the quota since:
   * it may have been counted anew by then. Never rejects.
   */
  release(namespace: string, entries: readonly Entry[]): Promise<void>;
}

type World = Pick<PluginInitializer, 'objects' | 'chargeQuota'>;

interface Waiting {
  readonly charge: Charge | undefined;
  readonly entries: readonly Entry[];
  readonly resolve: (entries: readonly Entry[]) => void;
  readonly reject: (error: unknown) => void;
}

/** An era is never told twice: not even once its quota was forgotten here. */
type Writing = World & { readonly newEra: () => number };

/** The quotas of a namespace as far as they were written here. An era ends when someone else writes the quota. */
interface Account {
  waiting: Waiting[];
  working: boolean;
  eras: Map<string, { readonly era: number; readonly version: string }>;
}

/** A quota while a batch is worked through. */
interface Page {
  readonly quota: ApiObject;
  readonly uid: string;
  readonly era: number;
  readonly hard: Amounts;
  used: Amounts;
  changed: boolean;
}

/** How often a batch begins anew because another server was first. */
const maxRounds = 20;
/** Of how many namespaces it is known what was written here last. Of others, nothing can be taken back. */
const maxAccounts = 10_000;

/** Whoever comes while a namespace is being worked on waits, and goes with all others that did in one write. */
export function createLedger(world: World): Ledger {
  const accounts = new Map<string, Account>();
  let eras = 0;
  const newEra = () => ++eras;
  const enter = (namespace: string, charge: Charge | undefined, entries: readonly Entry[]) =>
    new Promise<readonly Entry[]>((resolve, reject) => {
      const account: Account = accounts.get(namespace) ?? { waiting: [], working: false, eras: new Map() };
      accounts.set(namespace, account);
      account.waiting.push({ charge, entries, resolve, reject });
      if (!account.working) void work(namespace, account);
    });
  const work = async (namespace: string, account: Account): Promise<void> => {
    account.working = true;
    while (account.waiting.length > 0) {
      const batch = account.waiting;
      account.waiting = [];
      try {
        await settle({ ...world, newEra }, namespace, account, batch);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    account.working = false;
    if (account.eras.size === 0 || accounts.size > maxAccounts) accounts.delete(namespace);
  };
  return {
    charge: (namespace, charge) => enter(namespace, charge, []),
    release: async (namespace, entries) => {
      // What could not be taken back stays counted: too much is refused then, never too much let in.
      if (entries.length > 0) await enter(namespace, undefined, entries).catch(() => []);
    },
  };
}

async function settle(world: Writing, namespace: string, account: Account, batch: readonly Waiting[]): Promise<void> {
  for (let round = 1; ; round++) {
    const quotas = await world.objects.list('resourcequotas', namespace, round > 1);
    const pages = openPages(account, quotas, world.newEra);
    const outcomes = batch.map((waiting) => enterAll(pages, waiting));
    if (await writePages(world, account, pages)) {
      batch.forEach(({ resolve, reject }, i) => {
        const outcome = outcomes[i];
        if (outcome !== undefined && 'refusal' in outcome) reject(outcome.refusal);
        else resolve(outcome?.entries ?? []);
      });
      return;
    }
    if (round === maxRounds) {
      throw statusError.conflict(
        { group: '', resource: 'resourcequotas' },
        quotas[0]?.metadata.name ?? '',
        'the object has been modified; please apply your changes to the latest version and try again',
      );
    }
  }
}

/** The quotas as they are; one that was not written here last begins a new era. */
function openPages(account: Account, quotas: readonly ApiObject[], newEra: () => number): Page[] {
  const eras: Account['eras'] = new Map();
  const pages = quotas.map((quota) => {
    const { uid = '', resourceVersion: version = '' } = quota.metadata;
    const known = account.eras.get(uid);
    const era = known?.version === version ? known.era : newEra();
    eras.set(uid, { era, version });
    const { hard, used } = fieldsOf(quota['status']);
    return { quota, uid, era, hard: readAmounts(hard), used: readAmounts(used), changed: false };
  });
  account.eras = eras;
  return pages;
}

type Outcome = { readonly entries: readonly Entry[] } | { readonly refusal: unknown };

/** Enters a charge on every page that it concerns, or on none. */
function enterAll(pages: readonly Page[], { charge, entries }: Waiting): Outcome {
  if (charge === undefined) {
    for (const { uid, era, amounts } of entries) {
      const page = pages.find((other) => other.uid === uid && other.era === era);
      if (page !== undefined)
        setUsed(page, new Map([...page.used, ...lessAtLeastZero(masked(page.used, amounts), amounts)]));
    }
    return { entries: [] };
  }
  const shares: { page: Page; amounts: Amounts; used: Amounts }[] = [];
  try {
    for (const page of pages) {
      const amounts = charge.share(page.quota);
      if (amounts === undefined || amounts.size === 0) continue;
      const used = new Map(page.used);
      addTo(used, amounts);
      checkHard(page, amounts, used, charge);
      shares.push({ page, amounts, used });
    }
  } catch (refusal) {
    return { refusal };
  }
  if (charge.rehearse) return { entries: [] };
  for (const { page, used } of shares) setUsed(page, used);
  return { entries: shares.map(({ page: { uid, era }, amounts }) => ({ uid, era, amounts })) };
}

function setUsed(page: Page, used: Amounts): void {
  page.used = used;
  page.changed = true;
}

const masked = (amounts: Amounts, names: { has(name: string): boolean }): Amounts =>
  new Map([...amounts].filter(([name]) => names.has(name)));

function checkHard({ quota, hard, used: before }: Page, amounts: Amounts, used: Amounts, { refuse }: Charge): void {
  const exceeded = new Set<string>();
  for (const name of amounts.keys()) {
    const limit = hard.get(name);
    const wanted = used.get(name);
    if (limit !== undefined && wanted !== undefined && compareQuantities(wanted, limit) > 0) exceeded.add(name);
  }
  if (exceeded.size === 0) return;
  const tell = (list: Amounts) => tellAmounts(masked(list, exceeded));
  const name = quota.metadata.name ?? '';
  throw refuse(`exceeded quota: ${name}, requested: ${tell(amounts)}, used: ${tell(before)}, limited: ${tell(hard)}`);
}

/** False when one of them had changed; then the others are as before again, as far as that can be. */
async function writePages(world: World, account: Account, pages: readonly Page[]): Promise<boolean> {
  const written: { readonly quota: ApiObject; readonly before: ApiObject; readonly era: number }[] = [];
  for (const page of pages) {
    if (!page.changed) continue;
    const quota = await world.chargeQuota(page.quota, writeAmounts(page.used));
    if (quota === undefined) {
      for (const { quota: later, before, era } of written) {
        const { used } = fieldsOf(before['status']);
        const back = await world.chargeQuota(later, fieldsOf(used));
        if (back !== undefined) setVersion(account, era, back);
      }
      return false;
    }
    written.push({ quota, before: page.quota, era: page.era });
    setVersion(account, page.era, quota);
  }
  return true;
}

function setVersion(account: Account, era: number, { metadata }: ApiObject): void {
  const { uid = '', resourceVersion: version = '' } = metadata;
  account.eras.set(uid, { era, version });
}

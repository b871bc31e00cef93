import type { Store } from '../../src/server/index.ts';
import { storeWith } from '../../src/store/testing/store-with.ts';
import type { Random } from './random.ts';
import { keyOf } from './target.ts';

/** A store that is wrong now and then. */
export type Plant = (store: Store, random: Random) => Store;

type Sink = Parameters<Store['watch']>[2];
type Batch = Parameters<Sink['batch']>;

/** Whether all keys are those of objects of the trial: the servers need the others. */
const isOfTrial = (parts: readonly { readonly key: string }[]) =>
  parts.length > 0 && parts.every(({ key }) => keyOf(`/registry${key}`) !== undefined);

/** A store whose watches tell what `tell` makes of each batch with changes. */
const told =
  (tell: (batch: Batch, sink: Sink, random: Random) => void): Plant =>
  (store, random) =>
    storeWith(store, {
      watch: (prefix, after, sink, options) => {
        const batch = (...given: Batch) => {
          if (isOfTrial(given[1])) tell(given, sink, random);
          else sink.batch(...given);
        };
        return store.watch(prefix, after, { batch, error: (error) => sink.error(error) }, options);
      },
    });

/** How often they are wrong: once in this number of times. */
const rarely = 30;

/** Faults of a store that a trial has to find, with the memory cluster. */
export const plants: { readonly [name: string]: Plant } = {
  'lost-write': (store, random) =>
    storeWith(store, {
      commit: async (compares, writes) => {
        if (!isOfTrial(writes) || !random.chance(rarely)) return store.commit(compares, writes);
        return { ok: true, revision: (await store.revision()) + 1 };
      },
    }),
  'lost-update': (store, random) =>
    storeWith(store, {
      commit: async (compares, writes) =>
        store.commit(isOfTrial(writes) && random.chance(rarely) ? [] : compares, writes),
    }),
  'repeated-write': (store, random) =>
    storeWith(store, {
      commit: async (compares, writes) => {
        const result = await store.commit(compares, writes);
        if (isOfTrial(writes) && random.chance(rarely)) await store.commit([], writes);
        return result;
      },
    }),
  'missing-event': told((batch, sink, random) => {
    if (!random.chance(rarely)) sink.batch(...batch);
  }),
  'wrong-event': told(([revision, changes], sink, random) => {
    const isWrong = random.chance(rarely);
    sink.batch(
      revision,
      changes.map((change) => (isWrong ? { ...change, entry: undefined } : change)),
    );
  }),
};

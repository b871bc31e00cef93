import { type Features, featureGates, type Names } from '../../meta/index.ts';
import { createRegistry, type Registry } from '../../registry/index.ts';
import { builtinResources, loadOlderVersions } from '../../resources/index.ts';
import { openMemoryStore, type Store } from '../../store/index.ts';
import { systemClock } from '../clock.ts';
import { systemRandom } from '../random.ts';

/** A registry over an empty store of its own. */
export interface OfflineRegistry {
  readonly registry: Registry;
  readonly store: Store;
  readonly close: () => Promise<void>;
}

/** Opens a registry with every built-in resource in every version, independent of feature gates. */
export async function openOfflineRegistry(names: Names): Promise<OfflineRegistry> {
  const { withOlderVersions } = await loadOlderVersions();
  const features = Object.fromEntries(Object.keys(featureGates).map((name) => [name, true])) as unknown as Features;
  const store = openMemoryStore({ clock: systemClock, historyMs: 0 });
  const registry = createRegistry({
    store,
    names,
    features,
    clock: systemClock,
    random: systemRandom,
    definitions: withOlderVersions(builtinResources),
    authorize: () => ({ allowed: false, reason: '' }),
    admission: () => [],
    serves: () => true,
  });
  return {
    registry,
    store,
    close: async () => {
      registry.close();
      await store.close();
    },
  };
}

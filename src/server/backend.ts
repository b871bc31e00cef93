import type { Registry } from '../registry/index.ts';
import type { Store } from '../store/index.ts';
import type { StoreChecks } from './storage/store-checks.ts';

/** The store and the registry of a server, for parts that are constructed before these are open and use them in requests. */
export class Backend {
  #store: Store | undefined;
  #checks: StoreChecks | undefined;
  #registry: Registry | undefined;

  /** @throws Error before `open` */
  get store(): Store {
    return present(this.#store, 'store');
  }

  /** @throws Error before `open` */
  get checks(): StoreChecks {
    return present(this.#checks, 'store');
  }

  /** @throws Error before `serve` */
  get registry(): Registry {
    return present(this.#registry, 'registry');
  }

  open(store: Store, checks: StoreChecks): void {
    this.#store = store;
    this.#checks = checks;
  }

  serve(registry: Registry): void {
    this.#registry = registry;
  }
}

function present<T>(value: T | undefined, name: string): T {
  if (value === undefined) throw new Error(`the ${name} is used before it is open`);
  return value;
}

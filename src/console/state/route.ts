/** The view of the page, in the fragment of its address: `#/list/apps%2Fv1/deployments?namespace=demo`. */
import { signal } from '@preact/signals';

/** A kind as an address names it. */
export interface KindAddress {
  readonly apiVersion: string;
  /** The plural name. */
  readonly resource: string;
}

export type Route =
  | { readonly view: 'home' | 'load' | 'unknown' }
  | ({ readonly view: 'list' | 'create' } & KindAddress)
  | ({
      readonly view: 'object';
      readonly namespace: string;
      readonly name: string;
      readonly tab: string;
    } & KindAddress);

/** The namespace that lists show; empty: all. */
export const namespace = signal('');

export const route = signal<Route>({ view: 'home' });

/** The address of a list. */
export const listAddress = ({ apiVersion, resource }: KindAddress): string => addressOf(['list', apiVersion, resource]);

export const createAddress = ({ apiVersion, resource }: KindAddress): string =>
  addressOf(['create', apiVersion, resource]);

/** The address of an object; an empty namespace means a cluster-scoped one. */
export const objectAddress = (
  { apiVersion, resource }: KindAddress,
  inNamespace: string,
  name: string,
  tab = '',
): string => addressOf(['object', apiVersion, resource, inNamespace === '' ? '-' : inNamespace, name, tab]);

const addressOf = (parts: readonly string[]): string =>
  `#/${parts
    .filter((part) => part !== '')
    .map(encodeURIComponent)
    .join('/')}`;

function parseRoute(fragment: string): Route {
  const [view = '', apiVersion = '', resource = '', inNamespace = '', name = '', tab = ''] = partsOf(fragment);
  if (view === '') return { view: 'home' };
  if (view === 'load') return { view };
  if (resource === '') return { view: 'unknown' };
  if (view === 'list' || view === 'create') return { view, apiVersion, resource };
  if (view !== 'object' || name === '') return { view: 'unknown' };
  return { view, apiVersion, resource, namespace: inNamespace === '-' ? '' : inNamespace, name, tab };
}

function partsOf(fragment: string): string[] {
  try {
    return fragment
      .replace(/^#?\/?/, '')
      .split('/')
      .map(decodeURIComponent);
  } catch {
    return ['unknown'];
  }
}

/** Shows another address. */
export function goTo(address: string): void {
  location.hash = address;
}

/** Follows the address of the page from now on. */
export function followAddress(): void {
  const read = () => {
    route.value = parseRoute(location.hash);
  };
  addEventListener('hashchange', read);
  read();
}

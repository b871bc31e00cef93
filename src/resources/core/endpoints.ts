import { age, formatSome, name } from '../cells.ts';
import { type ObjectOf, resource } from '../define.ts';
import { Endpoints } from '../types/core-v1.ts';

export const endpoints = resource({
  group: '',
  plural: 'endpoints',
  kind: 'Endpoints',
  schema: Endpoints,
  shortNames: ['ep'],
  columns: [name, ['Endpoints', (object) => formatSome(addresses(object), 3)], age],
  strategy: { createOnUpdate: true },
});

/** `ip:port` for each address and port; the bare `ip` where no port is told. */
function addresses({ subsets = [] }: ObjectOf<typeof Endpoints>): string[] {
  return subsets.flatMap(({ addresses = [], ports = [] }) =>
    ports.length === 0
      ? addresses.map(({ ip = '' }) => ip)
      : ports.flatMap(({ port = 0 }) =>
          addresses.map(({ ip = '' }) => (ip.includes(':') ? `[${ip}]:${port}` : `${ip}:${port}`)),
        ),
  );
}

import type { JsonObject } from '../../meta/index.ts';
import { formatNumber } from '../commands/store-command.ts';

/** Numbers of objects by resource, such as `cronjobs.batch`, and by the version in which they are stored. */
export class VersionCounts {
  readonly #counts = new Map<string, Map<string, number>>();

  add(resource: string, version: string): void {
    const versions = this.#counts.get(resource) ?? new Map<string, number>();
    this.#counts.set(resource, versions.set(version, (versions.get(version) ?? 0) + 1));
  }

  clear(): void {
    this.#counts.clear();
  }

  /** A line for each resource and version, such as `3 cronjobs.batch (batch/v1beta1)`. */
  lines(): string[] {
    return this.#sorted().flatMap(([resource, versions]) =>
      Object.entries(versions).map(([version, count]) => `${formatNumber(count)} ${resource} (${version})`),
    );
  }

  /** `{"cronjobs.batch":{"batch/v1beta1":3}}` */
  json(): JsonObject {
    return Object.fromEntries(this.#sorted());
  }

  #sorted(): [resource: string, versions: { [version: string]: number }][] {
    return [...this.#counts]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([resource, versions]) => [resource, Object.fromEntries(versions)]);
  }
}

/** The names of the EndpointSlices of each Service, so that the endpoints of one are found without reading those of all. */
export class SliceIndex {
  readonly #slices = new Map<string, Set<string>>();
  /** By namespace and name of the slice. */
  readonly #services = new Map<string, string>();

  /** Sets the Service of a slice; undefined when it has none, or was deleted. Returns the Services that gain or lose the slice, or have it. */
  set(namespace: string, name: string, service: string | undefined): ReadonlySet<string> {
    const slice = `${namespace}/${name}`;
    const before = this.#services.get(slice);
    if (before !== undefined && before !== service) {
      const slices = this.#slices.get(`${namespace}/${before}`);
      slices?.delete(name);
      if (slices?.size === 0) this.#slices.delete(`${namespace}/${before}`);
      this.#services.delete(slice);
    }
    if (service !== undefined && before !== service) {
      const key = `${namespace}/${service}`;
      this.#slices.set(key, (this.#slices.get(key) ?? new Set()).add(name));
      this.#services.set(slice, service);
    }
    return new Set([before, service].filter((one) => one !== undefined));
  }

  /** The names of the slices of a Service. */
  of(namespace: string, service: string): readonly string[] {
    return [...(this.#slices.get(`${namespace}/${service}`) ?? [])];
  }
}

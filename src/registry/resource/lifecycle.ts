import type { ReleaseText } from '../../meta/index.ts';

/** The releases of the API at which a version of a kind changes (specification, "Deprecation rules"). */
export interface Lifecycle {
  /** The first one that serves it. */
  readonly introduced: ReleaseText;
  /** The first one in which it is deprecated. */
  readonly deprecated?: ReleaseText;
  /** The first one of the reference server that does not serve it. This server does where `--runtime-config` enables it. */
  readonly removed?: ReleaseText;
  /** The version and kind to use instead: `apps/v1 Deployment`. May hold the placeholders of `expandNames`. */
  readonly replacement?: string;
}

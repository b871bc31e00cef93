/** The storage class of persistent volumes and claims. */
import { annotationOf, type Names, type ObjectMeta } from '../meta/index.ts';

/** The deprecated annotation that preceded the field `storageClassName`. */
export const classAnnotation = ({ labels }: Pick<Names, 'labels'>): string => `volume.beta.${labels}/storage-class`;

interface Storage {
  readonly metadata: ObjectMeta;
  readonly spec?: { readonly storageClassName?: string };
}

/** Returns the storage class of a volume or claim, or '' without one. The annotation takes precedence over the field. */
export const storageClassOf = (object: Storage, names: Pick<Names, 'labels'>): string =>
  annotationOf(object, classAnnotation(names)) ?? object.spec?.storageClassName ?? '';

/** The types of storage/v1beta1: those of v1alpha1. */
import { inVersion } from './in-version.ts';
import * as v1alpha1 from './storage-v1alpha1.ts';

const v1beta1 = inVersion('storage/v1beta1');

export const VolumeAttributesClass = v1beta1(v1alpha1.VolumeAttributesClass);

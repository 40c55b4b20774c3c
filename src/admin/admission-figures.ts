import type { AdmissionDecision, AdmissionFigures } from '../core/model/admission.ts';

/** What an evaluation saw of the queues. undefined: no sample counted, or none is looked at. */
export function admissionFigures(admission: AdmissionDecision): AdmissionFigures | undefined {
  switch (admission.kind) {
    case 'disabled':
    case 'unavailable':
      return undefined;
    case 'off':
      return admission.figures;
    case 'engaged':
    case 'shedding':
      return admission.basis.kind === 'measured' ? admission.basis.figures : undefined;
  }
}

import type { ArmName, CellResult, Scenario } from './model.ts';

/** The cells of one scenario, arm and number of sidecars: a line of the report. */
export interface Row {
  readonly scenario: Scenario;
  readonly arm: ArmName;
  readonly sidecars: number;
  /** Those that count, by seed; at most one of each. */
  readonly cells: readonly CellResult[];
  /** Those that stayed disturbed however low the rate. */
  readonly disturbed: readonly CellResult[];
  /** Versions of the product that all these measured; more than one only where that was asked for. */
  readonly products: readonly string[];
}

/**
 * Cells of the same seed and rate, which offered the same requests where the scenarios differ in nothing else. Seeds
 * that either row lacks are left out.
 */
export function pairsOf(row: Row, rival: Row): readonly (readonly [CellResult, CellResult])[] {
  return row.cells.flatMap((cell) => {
    const other = rival.cells.find(
      ({ seed, rateFactor }) => seed === cell.seed && rateFactor === cell.rateFactor,
    );
    return other === undefined ? [] : [[cell, other] as const];
  });
}

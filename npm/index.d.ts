/** An error of the engine. After one with the status "out of memory" load another engine. */
export class EngineError extends Error {
    readonly details: {
        status?: string;
        /** Of the scene text, from 1; 0 if unknown. */
        line?: number;
        column?: number;
        /** JSON pointer to the value, e.g. "/bodies/0/mass". */
        place?: string;
        text?: string;
    };
}

export interface SceneInfo {
    readonly name: string;
    readonly title: string;
    readonly engine: string;
    /** s */
    readonly duration: number;
    /** s */
    readonly outputStep: number;
    /** Names of the bodies, in the order of all arrays. */
    readonly bodies: readonly string[];
}

/** Energies and works in J, momenta in SI units. */
export interface Ledger {
    readonly kineticLinear: number;
    readonly kineticAngular: number;
    readonly potential: number;
    readonly springEnergy: number;
    readonly energy: number;
    readonly work: number;
    readonly impactWork: number;
    readonly frictionWork: number;
    readonly microWork: number;
    readonly motorWork: number;
    readonly dissipation: number;
    readonly numericalEnergy: number;
    readonly energyScale: number;
    readonly mass: number;
    readonly momentum: readonly [number, number, number];
    readonly angularMomentum: readonly [number, number, number];
}

export type ReadableField =
    | 'positions'
    | 'orientations'
    | 'centers'
    | 'linearVelocities'
    | 'angularVelocities'
    | 'masses'
    | 'forces'
    | 'torques';
export type WritableField = Exclude<ReadableField, 'centers' | 'masses'>;

/** A simulated world. Arrays hold all bodies, packed: 3 numbers each, orientations 4 (w x y z). */
export class World {
    private constructor();
    readonly info: SceneInfo;
    /** s */
    readonly time: number;
    readonly bodyCount: number;
    /** Of the state: 16 hexadecimal digits, the same on every machine. */
    readonly hash: string;
    readonly ledger: Ledger;
    readonly positions: Float64Array;
    readonly orientations: Float64Array;
    readonly linearVelocities: Float64Array;
    readonly angularVelocities: Float64Array;
    /** Advances by a time in s; throws an EngineError if the engine cannot. */
    advance(seconds: number): void;
    advanceTo(time: number): void;
    /** Advances to the end of the scene's duration; false: some step missed its tolerance. */
    run(): boolean;
    read(field: ReadableField): Float64Array;
    write(field: WritableField, values: ArrayLike<number>): void;
    /** Frees the world; it cannot be used any more. */
    close(): void;
}

export interface SceneOptions {
    /** Of the scene, in messages. */
    name?: string;
    /** Files that the scene names, e.g. meshes. */
    files?: Record<string, Uint8Array>;
}

export interface Engine {
    readonly version: string;
    /** The file that the last scene lacked; '' if it lacked none. */
    readonly missingFile: string;
    /** A world of a scene: JSON text or an object of the scene format. */
    openWorld(scene: string | object, options?: SceneOptions): World;
    putFile(name: string, bytes: Uint8Array): void;
    dropFiles(): void;
}

/** Loads the engine. Every call makes one with a memory of its own (at most 2 GB). */
export function load(
    source?: WebAssembly.Module | BufferSource | Response | Promise<Response>,
): Promise<Engine>;

// Shadows of a sun that is a disc, as in the program's renderer: the edge of a shadow widens with the distance from
// what casts it.
//
// From the depths that the sun sees, the shader first looks for what covers the disc (Fernando, "Percentage-closer soft
// shadows", 2005): its mean distance says how wide the edge is. Then it counts the points within that width that the
// sun does not see. Both use points on a spiral, turned by an angle that differs from pixel to pixel. Depths are
// compared with those of the plane of the surface, or a surface would shadow itself at the edges of a wide spiral.

import * as THREE from 'three';

const SUN_DISC = 0.035; // rad, radius: app/render/picture_light.c
const REACH = 0.12; // how far from the surface something counts, of the depth that the sun sees
const STEEP = 3; // tangent of the steepest surface whose plane is used

const SHADOW = `
#ifdef USE_SHADOWMAP
float sunShadow(sampler2D shadowMap, vec2 shadowMapSize, float shadowIntensity, float shadowBias, float shadowRadius, vec4 shadowCoord) {
    vec3 at = shadowCoord.xyz / shadowCoord.w;
    vec3 dx = dFdx(at);
    vec3 dy = dFdy(at);
    if (any(lessThan(at, vec3(0.0))) || any(greaterThan(at, vec3(1.0)))) {
        return 1.0;
    }
    // depth of the plane of the surface, by place in the map
    float area = dx.x * dy.y - dx.y * dy.x;
    vec2 slope = abs(area) > 1e-14 ? vec2(dy.y * dx.z - dx.y * dy.z, dx.x * dy.z - dy.x * dx.z) / area : vec2(0.0);
    float steepest = ${STEEP.toFixed(1)} * ${SUN_DISC} / shadowRadius;
    slope *= min(1.0, steepest / max(length(slope), 1e-9));
    float z = at.z + shadowBias;
    float turn = 6.2831853 * fract(52.9829189 * fract(dot(floor(gl_FragCoord.xy), vec2(0.06711056, 0.00583715))));
    float texel = 1.0 / shadowMapSize.x;
    float wide = shadowRadius * min(at.z, ${REACH}) + texel;
    float depths = 0.0;
    float count = 0.0;
    for (int i = 0; i < 24; i++) { // dense in the middle: most things are near
        float angle = turn + 2.39996323 * float(i);
        float part = (float(i) + 0.5) / 24.0;
        vec2 way = wide * part * part * vec2(cos(angle), sin(angle));
        float depth = texture2D(shadowMap, at.xy + way).r;
        // inside of the cone from this point to the disc
        if (z + dot(slope, way) > depth && length(way) <= shadowRadius * (z - depth) + 2.0 * texel) {
            depths += depth;
            count += 1.0;
        }
    }
    float width = count > 0.0 ? shadowRadius * (z - depths / count) : 0.0;
    float pixel = max(length(dx.xy), length(dy.xy)); // at least as wide as a pixel: no stairs
    width = max(width, clamp(pixel, 2.0 * texel, 10.0 * texel));
    float seen = 0.0;
    for (int i = 0; i < 32; i++) {
        float angle = turn + 2.39996323 * float(i);
        vec2 way = width * sqrt((float(i) + 0.5) / 32.0) * vec2(cos(angle), sin(angle));
        seen += step(z + dot(slope, way), texture2D(shadowMap, at.xy + way).r);
    }
    return mix(1.0, seen / 32.0, shadowIntensity);
}
#endif
`;

/** Puts the shader into those of three, for maps with plain depths. */
export function useSunShadows(renderer) {
    const chunks = THREE.ShaderChunk;
    const use = chunks.lights_fragment_begin.replace('getShadow( directionalShadowMap', 'sunShadow( directionalShadowMap');
    if (use === chunks.lights_fragment_begin) {
        throw new Error('three calls its shadows in another way now; see shadows.js');
    }
    renderer.shadowMap.type = THREE.BasicShadowMap;
    chunks.lights_fragment_begin = use;
    chunks.shadowmap_pars_fragment += SHADOW;
}

/** Width of an edge in the map, of the distance from what casts it in the depth of the map. */
export function edgeRate(depth, width) {
    return (SUN_DISC * depth) / width;
}

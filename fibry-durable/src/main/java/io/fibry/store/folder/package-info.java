/** A store in a folder. Its log consists of frames with checksums; each frame is one commit. */
package io.fibry.store.folder;

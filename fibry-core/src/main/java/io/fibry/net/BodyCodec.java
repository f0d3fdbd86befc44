package io.fibry.net;

/**
 * How objects become bodies of HTTP, and bodies become objects: with a library of your choice, for
 * JSON, say. Thread-safe.
 */
public interface BodyCodec {

  /** {@return the Content-Type of these bodies, as {@code application/json}} */
  String mediaType();

  /**
   * Reads an object.
   *
   * @param <T> of it
   * @param body its bytes
   * @param type of it
   * @return never null
   * @throws Exception if these bytes are none; that is answered 400
   */
  <T> T read(byte[] body, Class<T> type) throws Exception;

  /**
   * Writes an object.
   *
   * @param object never null
   * @return its bytes
   * @throws Exception if it has none; that is answered 500
   */
  byte[] write(Object object) throws Exception;
}

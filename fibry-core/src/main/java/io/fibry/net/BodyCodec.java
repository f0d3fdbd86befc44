package io.fibry.net;

/**
 * Converts between objects and the bodies of HTTP requests and responses, for example to and from
 * JSON with a library of your choice. Implementations must be thread-safe.
 */
public interface BodyCodec {

  /** {@return the Content-Type of these bodies, such as {@code application/json}} */
  String mediaType();

  /**
   * Reads an object from the body of a request.
   *
   * @param <T> the type of the object
   * @param body the bytes of the body
   * @param type the class of the object
   * @return the object, never null
   * @throws HttpException usually with the status 400, if the client has sent no object of this
   * type; its text tells the client where the body is wrong
   * @throws Exception if the codec cannot read objects of this type from any body; the exception is
   * logged, and the client gets the status 500
   */
  <T> T read(byte[] body, Class<T> type) throws Exception;

  /**
   * Converts an object to the body of a response.
   *
   * @param object never null
   * @return the bytes of the body
   * @throws Exception if the object cannot be converted; the client gets the status 500
   */
  byte[] write(Object object) throws Exception;
}

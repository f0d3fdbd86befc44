package io.fibry.cluster.remote;

/**
 * An encoded message that expects no answer.
 *
 * @param context the text of the context propagators, or an empty text
 */
public record OutboundTell(RemoteAddress address, Object message, byte[] body, String context) {
  int bytes() {
    return body.length + context.length();
  }

  @Override
  public String toString() {
    return message.toString();
  }
}

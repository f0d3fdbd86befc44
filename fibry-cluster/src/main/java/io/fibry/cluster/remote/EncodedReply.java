package io.fibry.cluster.remote;

import io.fibry.cluster.spi.WireMessage;
import io.fibry.spi.AnswerObserver;

/**
 * The reply to a request of another node. The thread of the actor encodes the answer when the actor
 * answers, so a later change of the answered object does not change the reply. The reply is sent
 * later, when the request is settled.
 */
final class EncodedReply extends AnswerObserver {
  /** An answer and the message that has its bytes, or the failure of the encoding. */
  private record Encoded(Object answer, WireMessage reply) {}

  private final String replyTo;
  private final Object request;
  private volatile Encoded encoded; // null before the answer; written by the answering thread, read by the sending one

  EncodedReply(String replyTo, Object request) {
    this.replyTo = replyTo;
    this.request = request;
  }

  @Override
  public void onAnswer(Object answer) {
    if (isEncoded(encoded, answer)) return;
    try {
      encoded = new Encoded(answer, encode(answer));
    } catch (VirtualMachineError noStackOrMemory) {} // the sending thread, which may have more, encodes the answer
  }

  private static boolean isEncoded(Encoded present, Object answer) {
    return present != null && present.answer == answer;
  }

  /** Returns the message with the answer, or with the failure of its encoding. */
  WireMessage toAnswer(Object answer) {
    var present = encoded;
    return isEncoded(present, answer) ? present.reply : encode(answer);
  }

  WireMessage toFailure(Throwable failure) {
    return ReplyCodec.ofFailure(replyTo, request, failure);
  }

  private WireMessage encode(Object answer) {
    try {
      return ReplyCodec.ofAnswer(replyTo, request, answer);
    } catch (VirtualMachineError fatal) {
      throw fatal;
    } catch (Throwable failure) { // such as an AssertionError of the answer
      return toFailure(failure);
    }
  }
}

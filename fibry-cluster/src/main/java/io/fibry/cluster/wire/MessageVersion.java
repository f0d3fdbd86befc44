package io.fibry.cluster.wire;

import io.fibry.cluster.spi.ClusterTransport;
import io.fibry.codec.Codec;

/** The version of the messages between nodes; the first node of an app writes it to the table. */
public final class MessageVersion {
  private static final Codec<Form> CODEC = Codec.of(Form.class);
  private static final Form CURRENT = new Form(1);

  /** The table entry. Its bytes contain the name of this type. */
  private record Form(int version) {}

  private MessageVersion() {}

  /** Throws an exception if the nodes of the app exchange messages of another version. */
  public static void check(ClusterTransport transport, Subjects subjects) {
    transport.create(subjects.keyOfMessageVersion(), CODEC.encode(CURRENT), ClusterTransport.FOREVER);
    var form = transport.get(subjects.keyOfMessageVersion()).flatMap(ClusterTransport.Entry::value)
        .map(CODEC::decode).orElse(CURRENT);
    if (!form.equals(CURRENT))
      throw new IllegalStateException("the nodes of app '" + subjects.app() + "' exchange messages of version "
          + form.version + ", and this library knows version " + CURRENT.version
          + "; use the version of the library that these nodes use");
  }
}

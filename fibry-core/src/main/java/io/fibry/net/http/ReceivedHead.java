package io.fibry.net.http;

import io.fibry.net.HttpOptions;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;

/** The head of a request, as far as it was read, for the headers of its response. */
record ReceivedHead(RequestHead head, boolean isTls) implements HttpOptions.RequestStart {
  @Override
  public String method() {
    return head.readMethod();
  }

  @Override
  public Optional<String> path() {
    return Optional.ofNullable(head.readTarget(isTls)).map(RequestTarget::path);
  }

  @Override
  public Optional<String> header(String name) {
    return Optional.ofNullable(head.header(Objects.requireNonNull(name, "name").toLowerCase(Locale.ROOT)));
  }
}

package io.fibry.jackson;

import io.fibry.net.BodyCodec;
import java.util.Objects;
import tools.jackson.databind.json.JsonMapper;

/**
 * Bodies of HTTP as JSON, by a mapper of yours. Thread-safe.
 * {@snippet class="io.fibry.jackson.JavadocSnippetsTest" region="bodies"}
 */
public final class JsonBodyCodec implements BodyCodec {
  private final JsonMapper mapper;

  private JsonBodyCodec(JsonMapper mapper) {
    this.mapper = mapper;
  }

  /**
   * With the settings of a mapper.
   *
   * @param mapper says what JSON looks like, and what is refused
   * @return for {@code HttpRoutes.withBodyCodec}
   */
  public static JsonBodyCodec of(JsonMapper mapper) {
    return new JsonBodyCodec(Objects.requireNonNull(mapper, "mapper"));
  }

  @Override
  public String mediaType() {
    return "application/json";
  }

  @Override
  public <T> T read(byte[] body, Class<T> type) {
    return mapper.readValue(body, type);
  }

  @Override
  public byte[] write(Object object) {
    return mapper.writeValueAsBytes(object);
  }
}

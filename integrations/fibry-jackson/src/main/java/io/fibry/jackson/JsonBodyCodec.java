package io.fibry.jackson;

import io.fibry.net.BodyCodec;
import io.fibry.net.HttpException;
import io.fibry.text.Lines;
import java.util.Collection;
import java.util.Objects;
import java.util.regex.Pattern;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonToken;
import tools.jackson.core.exc.InputCoercionException;
import tools.jackson.core.exc.StreamConstraintsException;
import tools.jackson.core.exc.StreamReadException;
import tools.jackson.databind.exc.MismatchedInputException;
import tools.jackson.databind.exc.UnrecognizedPropertyException;
import tools.jackson.databind.exc.ValueInstantiationException;
import tools.jackson.databind.json.JsonMapper;

/**
 * Writes and reads bodies of HTTP as JSON, with a mapper of your own. Thread-safe.
 * {@snippet class="io.fibry.jackson.JavadocSnippetsTest" region="bodies"}
 *
 * <p>A client whose body is wrong gets the status 400 and learns the line, the column and the
 * field. The body is wrong, too, if the constructor of the object throws an
 * {@link IllegalArgumentException} or a {@link NullPointerException}. The client gets the text of
 * the former. A type that the mapper cannot read at all is a failure of the server.
 */
public final class JsonBodyCodec implements BodyCodec {
  // an end of a text that shows the source or names an option; a limit's class; a text before a backtick
  private static final Pattern INTERNALS = Pattern.compile(
      "(?s) \\((start marker|for \\w+ starting|not recognized as|consider enabling).*|, from `[^`]*`|[,:;(]?[^,:;(]*`.*");

  private final JsonMapper mapper;

  private JsonBodyCodec(JsonMapper mapper) {
    this.mapper = mapper;
  }

  /**
   * Makes a codec with the settings of a mapper.
   *
   * @param mapper the mapper, which reads and writes all bodies
   * @return a codec for {@code HttpRoutes.withBodyCodec}
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
    if (body.length == 0) throw refusal("the body is empty; send a " + type.getSimpleName() + " as JSON");
    try {
      T object = mapper.readValue(body, type);
      if (object == null) throw refusal("the body is null; send a " + type.getSimpleName() + " as JSON");
      return object;
    } catch (JacksonException failure) {
      throw refusalOf(failure, type);
    }
  }

  /** Returns the failure itself if the server is at fault. */
  private static RuntimeException refusalOf(JacksonException failure, Class<?> type) {
    return switch (failure) {
      case InputCoercionException number -> refusal(failure, subject(failure) + " is out of range");
      case StreamReadException syntax -> refusal(failure, "malformed JSON: " + problem(syntax));
      case StreamConstraintsException limit -> refusal(failure, problem(limit));
      case UnrecognizedPropertyException unknown -> refusal(failure, subject(failure) + " is unknown");
      case MismatchedInputException mismatch -> refusal(failure, subject(failure) + problem(mismatch, type));
      case ValueInstantiationException made when made.getCause() instanceof IllegalArgumentException refused -> refusal(
          failure, subject(failure) + " is refused: " + text(Lines.message(refused)));
      case ValueInstantiationException made when made.getCause() instanceof NullPointerException -> refusal(failure,
          subject(failure) + " lacks a field");
      default -> failure;
    };
  }

  private static String problem(MismatchedInputException mismatch, Class<?> type) {
    if (mismatch.getOriginalMessage().startsWith("Trailing token")) return " is followed by more JSON";
    var token = mismatch.getCurrentToken();
    if (token == null || token == JsonToken.VALUE_NULL || token == JsonToken.END_OBJECT) return " is missing";
    var target = mismatch.getTargetType() == null ? type : mismatch.getTargetType();
    boolean isList = Collection.class.isAssignableFrom(target) || target.isArray();
    return " is no " + (isList ? "list" : target.getSimpleName());
  }

  /** Returns the path of the field with the problem, such as {@code field lines[0].count}. */
  private static String subject(JacksonException failure) {
    var path = new StringBuilder();
    for (var step : failure.getPath())
      if (step.getPropertyName() == null) path.append('[').append(step.getIndex()).append(']');
      else path.append(path.isEmpty() ? "" : ".").append(step.getPropertyName());
    return path.isEmpty() ? "the body" : "field " + text(path.toString());
  }

  private static HttpException refusal(JacksonException failure, String problem) {
    var location = failure.getLocation();
    return refusal(location == null || location.getLineNr() < 1 ? problem
        : "line " + location.getLineNr() + ", column " + location.getColumnNr() + ": " + problem);
  }

  private static HttpException refusal(String problem) {
    return new HttpException(400, "400 Bad Request: " + problem);
  }

  /** Returns one short line, because the client has chosen a part of the text. */
  private static String text(String text) {
    return Lines.line(text);
  }

  /** Returns a text of Jackson without the names of its classes and options. */
  private static String problem(JacksonException failure) {
    return text(INTERNALS.matcher(failure.getOriginalMessage()).replaceAll("").replace("VALUE_STRING", "a string"));
  }

  @Override
  public byte[] write(Object object) {
    return mapper.writeValueAsBytes(object);
  }
}

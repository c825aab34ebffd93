// The Python face: torch's CPU tensors come as DLPack arrays, results are written into tensors that Python made.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <sys/mman.h>

#include <functional>
#include <memory>

#include "ops.h"

namespace nb = nanobind;
using namespace dk;
using Array = nb::ndarray<nb::device::cpu>;
using Maybe = std::optional<Array>;

namespace {

struct Unsupported : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A step that is captured: operations with their memory bound, which stays alive as long as the recording.
struct Recording {
  std::vector<std::function<void()>> steps;
  std::vector<Array> memory;
  bool whole = true;  // no operation went to the reference, out of our sight

  void replay() const {
    for (const auto& step : steps) step();
  }
};

thread_local Recording* recording = nullptr;  // what this thread's operations are added to

[[noreturn]] void refuse(const char* what) {
  if (recording) recording->whole = false;
  throw Unsupported(what);
}

Tensor view(const Array& a) {
  Tensor t;
  t.data = a.data();
  t.dims = int(a.ndim());
  if (t.dims < 1 || t.dims > 4) refuse("tensors of one to four dimensions");
  const auto dtype = a.dtype();
  const auto code = nb::dlpack::dtype_code(dtype.code);
  if (code == nb::dlpack::dtype_code::Float && dtype.bits == 32) t.type = Type::f32;
  else if (code == nb::dlpack::dtype_code::Bfloat && dtype.bits == 16) t.type = Type::bf16;
  else if (code == nb::dlpack::dtype_code::UInt && dtype.bits == 8) t.type = Type::u8;
  else if (code == nb::dlpack::dtype_code::Int && dtype.bits == 32) t.type = Type::i32;
  else if (code == nb::dlpack::dtype_code::Int && dtype.bits == 64) t.type = Type::i64;
  else refuse("a dtype without a kernel");
  for (int i = 0; i < t.dims; i++) t.size[i] = i64(a.shape(i)), t.stride[i] = a.stride(i);
  if (t.stride[t.dims - 1] != 1 && t.last() != 1) refuse("rows that aren't contiguous");
  t.stride[t.dims - 1] = 1;
  if (recording) recording->memory.push_back(a);
  return t;
}

Tensor view(const Maybe& a) { return a ? view(*a) : Tensor{}; }

Tensors views(const std::vector<Array>& arrays) {
  Tensors made;
  for (const Array& one : arrays) made.push_back(view(one));
  return made;
}

Sequences sequences(const Array& starts, const Array& lengths, const Array& slots, const Array& table) {
  const Tensor parts[] = {view(starts), view(lengths), view(slots), view(table)};
  for (const Tensor& one : parts) need(one.type == Type::i32, "sequences are int32");
  const i64 count = parts[1].size[0];
  need(parts[0].size[0] == count + 1 && parts[2].size[0] == count && parts[3].size[0] == count && parts[3].dims == 2 &&
           (count < 2 || parts[3].stride[0] == parts[3].size[1]),
       "sequences of different length");
  return {parts[0].as<std::int32_t>(), parts[1].as<std::int32_t>(), parts[2].as<std::int32_t>(),
          parts[3].as<std::int32_t>(), count, parts[3].size[1]};
}

struct Native {
  Context c;

  Native(const std::string& isa, bool exact) : c{isa.empty() ? best() : find(isa.c_str()), exact} {
    if (!c.k) throw std::invalid_argument("this machine has no kernels named '" + isa + "'");
  }

  template <class Fn> void submit(Fn step) {
    {
      nb::gil_scoped_release free;
      step();
    }
    if (recording) recording->steps.emplace_back(std::move(step));
  }
};

using A = const Array&;

}  // namespace

NB_MODULE(_native, m) {
  nb::exception<Unsupported>(m, "Unsupported");
  nb::class_<Recording>(m, "Recording")
      .def(nb::init<>())
      .def("__len__", [](const Recording& r) { return r.steps.size(); })
      .def_prop_ro("whole", [](const Recording& r) { return r.whole; })
      .def("start", [](Recording& r) { recording = &r; })
      .def("stop", [](Recording&) { recording = nullptr; })
      .def("replay", &Recording::replay, nb::call_guard<nb::gil_scoped_release>());
  m.def("names", [] {
    std::vector<std::string> made;
    for (auto name = names(); *name; name++) made.emplace_back(*name);
    return made;
  });
  m.def("threads", [](int count) {
    if (count > 0) Pool::shared().resize(count);
    return Pool::shared().threads();
  }, nb::arg("count") = 0);
  m.def("read", [](A memory) { return read(view(memory), i64(memory.nbytes())); });
  m.def("huge_pages", [](A memory) {
    const auto begin = (reinterpret_cast<std::uintptr_t>(memory.data()) + 4095) / 4096 * 4096;
    const auto end = reinterpret_cast<std::uintptr_t>(memory.data()) + memory.nbytes();
#if defined(MADV_HUGEPAGE)
    auto* first = reinterpret_cast<void*>(begin);
    if (end <= begin || madvise(first, end - begin, MADV_HUGEPAGE) != 0) return false;
    madvise(first, end - begin, 25);  // MADV_COLLAPSE of Linux 6.1: what is in small pages already moves to huge ones
    return true;
#else
    return false;
#endif
  });

  nb::class_<Native>(m, "Native")
      .def(nb::init<const std::string&, bool>(), nb::arg("isa") = "", nb::arg("exact") = false)
      .def_prop_ro("isa", [](const Native& n) { return n.c.k->name; })
      .def_prop_ro("exact", [](const Native& n) { return n.c.exact; })
      .def("embed", [](Native& n, A tokens, A table, A out) {
        n.submit([c = n.c, tokens = view(tokens), table = view(table), out = view(out)] { embed(c, tokens, table, out); });
      })
      .def("linear", [](Native& n, A x, const std::vector<Array>& weights, A out) {
        n.submit([c = n.c, x = view(x), w = views(weights), out = view(out)] { linear(c, x, w, out); });
      })
      .def("loglik", [](Native& n, A x, A weight, A rows, A tokens, A out) {
        n.submit([c = n.c, x = view(x), w = view(weight), rows = view(rows), tokens = view(tokens), out = view(out)] {
          loglik(c, x, w, rows, tokens, out);
        });
      })
      .def("add", [](Native& n, A one, A two, A out) {
        n.submit([c = n.c, one = view(one), two = view(two), out = view(out)] { add(c, one, two, out); });
      })
      .def("rms_norm", [](Native& n, A x, const Maybe& weight, float eps, A out) {
        n.submit([c = n.c, x = view(x), w = view(weight), eps, out = view(out)] { rms_norm(c, x, w, eps, out); });
      })
      .def("attn_res", [](Native& n, const std::vector<Array>& streams, A score, float eps, A out) {
        n.submit([c = n.c, s = views(streams), score = view(score), eps, out = view(out)] { attn_res(c, s, score, eps, out); });
      })
      .def("causal_conv", [](Native& n, A x, A w, A states, A a, A b, A s, A t, A out) {
        n.submit([c = n.c, x = view(x), w = view(w), states = view(states), q = sequences(a, b, s, t), out = view(out)] {
          causal_conv(c, x, w, states, q, out);
        });
      })
      .def("kda", [](Native& n, A qkv, A decay, A beta, A a_log, A dt, std::optional<float> bound, A states, A a, A b, A s,
                     A t, A out) {
        n.submit([c = n.c, qkv = view(qkv), decay = view(decay), beta = view(beta), a_log = view(a_log), dt = view(dt), bound,
                  states = view(states), q = sequences(a, b, s, t), out = view(out)] {
          kda(c, qkv, decay, beta, a_log, dt, bound, states, q, out);
        });
      }, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
           nb::arg(), nb::arg())
      .def("gated_norm", [](Native& n, A o, A w, A gate, float eps, A out) {
        n.submit([c = n.c, o = view(o), w = view(w), gate = view(gate), eps, out = view(out)] {
          gated_norm(c, o, w, gate, eps, out);
        });
      })
      .def("write_latents", [](Native& n, A kv, A w, float eps, A pages, A a, A b, A s, A t) {
        n.submit([c = n.c, kv = view(kv), w = view(w), eps, pages = view(pages), q = sequences(a, b, s, t)] {
          write_latents(c, kv, w, eps, pages, q);
        });
      })
      .def("write_keys", [](Native& n, A keys, A w, A bias, float eps, A pages, A a, A b, A s, A t) {
        n.submit([c = n.c, keys = view(keys), w = view(w), bias = view(bias), eps, pages = view(pages),
                  q = sequences(a, b, s, t)] { write_keys(c, keys, w, bias, eps, pages, q); });
      })
      .def("index_topk", [](Native& n, A q, A w, A pages, A a, A b, A s, A t, i64 k, A out) {
        n.submit([c = n.c, q = view(q), w = view(w), pages = view(pages), seq = sequences(a, b, s, t), k, out = view(out)] {
          index_topk(c, q, w, pages, seq, k, out);
        });
      })
      .def("absorb", [](Native& n, A q, A k_b, A out) {
        n.submit([c = n.c, q = view(q), k_b = view(k_b), out = view(out)] { absorb(c, q, k_b, out); });
      })
      .def("mla_attention", [](Native& n, A q, A pages, A a, A b, A s, A t, const Maybe& chosen, i64 rank, float scale, A out) {
        n.submit([c = n.c, q = view(q), pages = view(pages), seq = sequences(a, b, s, t), chosen = view(chosen), rank, scale,
                  out = view(out)] { mla_attention(c, q, pages, seq, chosen, rank, scale, out); });
      })
      .def("expand", [](Native& n, A o, A v_b, A out) {
        n.submit([c = n.c, o = view(o), v_b = view(v_b), out = view(out)] { expand(c, o, v_b, out); });
      })
      .def("gated", [](Native& n, A x, A gate, A out) {
        n.submit([c = n.c, x = view(x), gate = view(gate), out = view(out)] { gated(c, x, gate, out); });
      })
      .def("glu", [](Native& n, A both, bool situ, float beta, float linear_beta, A out) {
        n.submit([c = n.c, both = view(both), act = Activation{situ, beta, linear_beta}, out = view(out)] {
          glu(c, both, act, out);
        });
      })
      .def("route", [](Native& n, A x, A w, const Maybe& bias, i64 k, float scale, bool renormalise, A ids, A weights) {
        n.submit([c = n.c, x = view(x), w = view(w), bias = view(bias), k, scale, renormalise, ids = view(ids),
                  weights = view(weights)] { route(c, x, w, bias, k, scale, renormalise, ids, weights); });
      })
      .def("mxfp4", [](Native& n, A x, A packed, A scales, A out) {
        n.submit([c = n.c, x = view(x), packed = view(packed), scales = view(scales), out = view(out)] {
          mxfp4(c, x, packed, scales, out);
        });
      })
      .def("experts", [](Native& n, A x, A ids, A weights, const std::vector<Array>& gate, const std::vector<Array>& up,
                         const std::vector<Array>& down, bool situ, float beta, float linear_beta, A out, bool more) {
        n.submit([c = n.c, x = view(x), ids = view(ids), weights = view(weights), gate = views(gate), up = views(up),
                  down = views(down), act = Activation{situ, beta, linear_beta}, out = view(out), more] {
          experts(c, x, ids, weights, gate, up, down, act, out, more);
        });
      });
}

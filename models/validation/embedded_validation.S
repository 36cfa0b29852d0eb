/* The published measurements as bytes of the program, see ../embedded_files.S. */
.macro embed name, file
  .global slicewise_validation_\name\()_begin
  .global slicewise_validation_\name\()_end
slicewise_validation_\name\()_begin:
  .incbin "\file"
slicewise_validation_\name\()_end:
  .byte 0
.endm

  .section .rodata
  embed sources, "sources.json"
  embed studies, "studies.json"
  embed gpus, "gpus.json"
  embed migperf, "migperf.csv"
  embed miso, "miso.csv"
  embed parvagpu, "parvagpu.csv"
  embed igniter, "igniter.csv"
  embed muxserve, "muxserve.csv"
  embed nos, "nos.csv"
  embed njit, "njit.csv"
  embed nvshare, "nvshare.csv"
  embed tsfast, "tsfast.csv"
  embed t4_tutorial, "t4-tutorial.csv"
  embed gavel_p100, "gavel-p100.csv"
  embed gavel_k80, "gavel-k80.csv"

  .section .note.GNU-stack, "", %progbits
